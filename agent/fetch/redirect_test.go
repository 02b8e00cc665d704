package fetch

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// chain redirects n times, then answers.
func chain(n int, seen *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		if i, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/")); i < n {
			http.Redirect(w, r, fmt.Sprintf("/%d", i+1), []int{301, 302, 303, 307, 308}[i%5])
			return
		}
		io.WriteString(w, "end")
	}
}

func TestRedirectsAreFollowedFiveTimes(t *testing.T) {
	t.Parallel()
	var seen atomic.Int32
	url := serve(t, chain(5, &seen))
	if d := get(t, client(t), Request{URL: url}); d.URL != url+"/5" || text(t, d) != "end" {
		t.Errorf("got the document of %s, want that of %s/5", d.URL, url)
	}
	seen.Store(0)
	e := fails(t, client(t), Request{URL: serve(t, chain(6, &seen))}, ClassRedirect)
	if got, want := e.Error(), "redirected more than 5 times"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if seen.Load() != 6 {
		t.Errorf("got %d requests, want 6", seen.Load())
	}
}

func TestLoopEnds(t *testing.T) {
	t.Parallel()
	var seen atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		http.Redirect(w, r, r.URL.Path, http.StatusMovedPermanently)
	})
	fails(t, client(t), Request{URL: url}, ClassRedirect)
	if seen.Load() != 6 {
		t.Errorf("got %d requests, want 6", seen.Load())
	}
}

func TestRedirectToNowhereIsRefused(t *testing.T) {
	t.Parallel()
	for _, to := range []string{
		"file:///etc/passwd", "ftp://example.org/", "gopher://127.0.0.1:1/", "javascript:alert(1)", "data:text/xml,<rss/>", "feed://example.org/",
		"http://", "http://:80/", "http://me:s3cret@host:port/", "http://[::1/", "%zz", "http://a b/", "",
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
		e := fails(t, client(t), Request{URL: url}, ClassRedirect)
		if strings.Contains(e.Error(), "s3cret") {
			t.Errorf("to %q: the password is in the error: %v", to, e)
		}
	}
}

func TestConditionsFollowARedirectAndNothingElseDoes(t *testing.T) {
	t.Parallel()
	var asked http.Header
	there := serve(t, func(_ http.ResponseWriter, r *http.Request) { asked = r.Header })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, there, http.StatusMovedPermanently)
	})
	url = strings.Replace(url, "//", "//me:s3cret@", 1)
	get(t, client(t), Request{URL: url + "/private?key=1", ETag: `W/"a"`, LastModified: "then"})
	for name, want := range map[string]string{
		"If-None-Match": `W/"a"`, "If-Modified-Since": "then", "User-Agent": "test", "Referer": "", "Cookie": "",
	} {
		if got := asked.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

package fetch

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// chain redirects n times, then responds.
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

func TestRedirect_AtMostFiveAreFollowed(t *testing.T) {
	t.Parallel()
	var seen atomic.Int32
	url := serve(t, chain(5, &seen))
	if d := get(t, client(t), Request{URL: url}); d.URL != url+"/5" || text(t, d) != "end" {
		t.Errorf("got the document of %s, want that of %s/5", d.URL, url)
	}
	seen.Store(0)
	e := fails(t, client(t), Request{URL: serve(t, chain(6, &seen))}, ClassRedirect)
	if got, want := e.Error(), "more than 5 redirects"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if seen.Load() != 6 {
		t.Errorf("got %d requests, want 6", seen.Load())
	}
}

func TestRedirect_LoopEnds(t *testing.T) {
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

func TestRedirect_InvalidTargetIsRejected(t *testing.T) {
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

func TestRedirect_KeepsValidatorsOnly(t *testing.T) {
	t.Parallel()
	var received http.Header
	there := serve(t, func(_ http.ResponseWriter, r *http.Request) { received = r.Header })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, there, http.StatusMovedPermanently)
	})
	url = strings.Replace(url, "//", "//me:s3cret@", 1)
	get(t, client(t), Request{URL: url + "/private?key=1", ETag: `W/"a"`, LastModified: "then"})
	for name, want := range map[string]string{
		"If-None-Match": `W/"a"`, "If-Modified-Since": "then", "User-Agent": "test", "Referer": "", "Cookie": "",
	} {
		if got := received.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestMoved_IsTheTargetOfPermanentRedirects(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		statuses []int
		want     string // path; "" if not moved
	}{
		{nil, ""}, {[]int{301}, "/1"}, {[]int{308}, "/1"}, {[]int{301, 308, 301}, "/3"},
		{[]int{302}, ""}, {[]int{307}, ""}, {[]int{303}, ""}, {[]int{301, 302}, ""}, {[]int{302, 301}, ""},
	} {
		for _, end := range []int{200, 304, 404} {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				i, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
				if i == len(x.statuses) {
					w.WriteHeader(end)
					return
				}
				http.Redirect(w, r, fmt.Sprintf("http://me:s3cret@%s/%d#part", r.Host, i+1), x.statuses[i])
			})
			want := x.want
			if want != "" {
				want = url + want
			}
			d, err := client(t).Fetch(t.Context(), Request{URL: url, ETag: `"a"`}, time.Now())
			got := d.Moved
			if e := (*Error)(nil); errors.As(err, &e) {
				got = e.Moved
			}
			if got != want {
				t.Errorf("%v, then %d: got %q, want %q", x.statuses, end, got, want)
			}
		}
	}
}

func TestMoved_IsReportedIfTheTargetFails(t *testing.T) {
	t.Parallel()
	dead := closedPort(t)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, dead+"/new", http.StatusMovedPermanently)
	})
	e := fails(t, client(t), Request{URL: url}, ClassConnect)
	if e.Moved != dead+"/new" || e.Took <= 0 {
		t.Errorf("got %q after %v, want %q and a time", e.Moved, e.Took, dead+"/new")
	}
}

// A blocked address must not be stored as a feed's new address.
func TestMoved_IsNeverABlockedAddress(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"/", "ftp://example.org/feed", "http://10.0.0.1/feed", "http://1.1.1.1:22/"} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusMovedPermanently) })
		if e := fails(t, client(t), Request{URL: url}, ClassRedirect, ClassBlocked); e.Moved != "" {
			t.Errorf("to %s: got %q, want none", to, e.Moved)
		}
	}
}

// Credentials go to the feed's own host only; hosts that it redirects to neither receive them nor redirect
// them to another address of the feed's host.
func TestRedirect_CredentialsGoToTheFeedsHostOnly(t *testing.T) {
	t.Parallel()
	const name, other = "feed.test", "evil.feed.test"
	received := map[string]string{}
	var mu sync.Mutex
	var here string
	here = serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		received[r.Host+r.URL.Path] = r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("Cookie")
		mu.Unlock()
		switch r.URL.Path {
		case "/":
			http.Redirect(w, r, "/same", http.StatusFound)
		case "/same":
			http.Redirect(w, r, at(here, other)+"/other", http.StatusFound)
		case "/other":
			http.Redirect(w, r, at(here, name)+"/back", http.StatusFound)
		}
	})
	c := named(t, zone(map[string][]string{name: {"127.0.0.1"}, other: {"127.0.0.1"}}))
	get(t, c, Request{URL: at(here, name), User: "me", Password: "s3cret", Header: map[string]string{"X-Api-Key": "k", "Cookie": "a=b"}})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(here, "http://"))
	const all = "Basic bWU6czNjcmV0ka=b"
	for path, want := range map[string]string{name + ":" + port + "/": all, name + ":" + port + "/same": all, other + ":" + port + "/other": "", name + ":" + port + "/back": ""} {
		if got, came := received[path]; !came || got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestSameHost_SamePortOrUpgradeToTLS(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{"http://a.test/", "http://A.test:80/x", true}, {"http://a.test", "https://a.test", true}, {"http://a.test:80", "https://a.test:443", true},
		{"https://a.test", "http://a.test", false}, {"http://a.test", "http://a.test:8080", false}, {"http://a.test:8080", "https://a.test", false},
		{"http://a.test", "http://www.a.test", false}, {"http://a.test", "http://a.test.", false}, {"http://www.a.test", "http://a.test", false},
	} {
		a, errA := url.Parse(x.a)
		b, errB := url.Parse(x.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := SameHost(a, b); got != x.want {
			t.Errorf("%s to %s: got %v, want %v", x.a, x.b, got, x.want)
		}
	}
}

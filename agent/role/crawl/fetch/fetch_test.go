package fetch

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// loopback is the network of this machine, where tests serve.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

// options returns options that allow this machine, with changes.
func options(change ...func(*Options)) Options {
	o := Options{UserAgent: "test", Timeout: 30 * time.Second, MaxBody: 1 << 20, MaxCompressed: 512 << 10, Parallel: 1, Allow: loopback}
	for _, f := range change {
		f(&o)
	}
	return o
}

// client returns a client that may fetch from this machine, with changes.
func client(t *testing.T, change ...func(*Options)) *Client {
	t.Helper()
	c := New(options(change...))
	t.Cleanup(c.Close)
	return c
}

func within(d time.Duration) func(*Options) { return func(o *Options) { o.Timeout = d } }

// serve returns the address of a server.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// get fetches a document and fails the test on an error.
func get(t *testing.T, c *Client, r Request) Document {
	t.Helper()
	d, err := c.Fetch(t.Context(), r, time.Now())
	if err != nil {
		t.Fatalf("Fetch(%s): %v", r.URL, err)
	}
	return d
}

// fails returns the error of a fetch and fails the test if its class is not wanted.
func fails(t *testing.T, c *Client, r Request, want ...Class) *Error {
	t.Helper()
	d, err := c.Fetch(t.Context(), r, time.Now())
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("Fetch(%s) = %+v, %v; want an *Error of class %q", r.URL, d, err, want)
	}
	if !slices.Contains(want, e.Class) {
		t.Errorf("Fetch(%s): got class %q (%v), want %q", r.URL, e.Class, e, want)
	}
	return e
}

func text(t *testing.T, d Document) string {
	t.Helper()
	b, err := Decompress(d.Body, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFetch_SendsValidatorsUnchanged(t *testing.T) {
	t.Parallel()
	for _, etag := range []string{`"a"`, `W/"a"`, `unquoted`, `"with \"quotes\" and, commas"`, `""`, `"ж"`, `W/"a--gzip"`} {
		const date = "yesterday, about noon"
		var received http.Header
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			received = r.Header
			w.Header().Set("ETag", etag)
			w.Header().Set("Last-Modified", date)
			io.WriteString(w, "body")
		})
		c := client(t)
		d := get(t, c, Request{URL: url})
		if received.Get("If-None-Match") != "" || received.Get("If-Modified-Since") != "" {
			t.Errorf("the first request has validators: %v", received)
		}
		get(t, c, Request{URL: url, ETag: d.ETag, LastModified: d.LastModified})
		if got := received.Get("If-None-Match"); got != etag {
			t.Errorf("If-None-Match: got %s, want %s", got, etag)
		}
		if got := received.Get("If-Modified-Since"); got != date {
			t.Errorf("If-Modified-Since: got %s, want %s", got, date)
		}
	}
}

// A validator that can't be sent must not make the feed fail.
func TestFetch_InvalidValidatorIsOmitted(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != "" {
			t.Errorf("got validators: %v", r.Header)
		}
		io.WriteString(w, "body")
	})
	get(t, client(t), Request{URL: url, ETag: "\"a\x01\"", LastModified: "a\r\nX-Injected: 1"})
}

func TestFetch_NotModifiedKeepsValidators(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/new" {
			w.Header().Set("ETag", `"new"`)
		}
		w.WriteHeader(http.StatusNotModified)
	})
	for path, etag := range map[string]string{"/": `"old"`, "/new": `"new"`} {
		d := get(t, client(t), Request{URL: url + path, ETag: `"old"`, LastModified: "then", BodyHash: "hash"})
		want := Document{URL: url + path, Status: 304, ETag: etag, LastModified: "then", BodyHash: "hash", Unchanged: true}
		if d.URL != want.URL || d.Status != want.Status || d.ETag != want.ETag || d.LastModified != want.LastModified ||
			d.BodyHash != want.BodyHash || !d.Unchanged || d.Body != nil {
			t.Errorf("got %+v, want %+v", d, want)
		}
	}
}

// Without a stored version 304 is an error; accepted, the feed would never be read.
func TestFetch_NotModifiedWithoutValidatorsIsAnError(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	if e := fails(t, client(t), Request{URL: url}, ClassStatus); e.Status != 304 {
		t.Errorf("got status %d, want 304", e.Status)
	}
}

func TestFetch_SameBytesAreUnchanged(t *testing.T) {
	t.Parallel()
	encoding := ""
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"`+encoding+`"`)
		w.Header().Set("Content-Encoding", encoding)
		w.Write(encodings[encoding](t, []byte("the same")))
	})
	c := client(t)
	first := get(t, c, Request{URL: url})
	if first.Unchanged || first.Size != 8 || len(first.BodyHash) != 32 {
		t.Errorf("first: got %+v, want 8 new bytes and a hash of 32 digits", first)
	}
	for encoding = range encodings {
		d := get(t, c, Request{URL: url, ETag: first.ETag, BodyHash: first.BodyHash})
		if !d.Unchanged || d.Body != nil || d.BodyHash != first.BodyHash || d.ETag != `"`+encoding+`"` {
			t.Errorf("%q: got %+v, want unchanged with the new validator", encoding, d)
		}
	}
}

func TestFetch_SendsOnlyStandardHeaders(t *testing.T) {
	t.Parallel()
	var received *http.Request
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { received = r })
	get(t, client(t), Request{URL: url + "/a?b=c#d"})
	if received.Method != "GET" || received.URL.String() != "/a?b=c" || received.UserAgent() != "test" {
		t.Errorf("got %s %s by %q, want GET /a?b=c by test", received.Method, received.URL, received.UserAgent())
	}
	for name := range received.Header {
		if !slices.Contains([]string{"User-Agent", "Accept", "Accept-Encoding"}, name) {
			t.Errorf("it sends %s: %v", name, received.Header[name])
		}
	}
}

func TestFetch_UserInfoOfTheURLAuthenticates(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	d := get(t, client(t), Request{URL: strings.Replace(url, "//", "//me:s3cret@", 1)})
	if want := url; d.URL != want {
		t.Errorf("the document's address: got %s, want it without the password, %s", d.URL, want)
	}
}

func TestClient_StoresNoCookies(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if len(r.Cookies()) > 0 {
			t.Errorf("%s: got cookies %v", r.URL, r.Cookies())
		}
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/b", http.StatusFound)
		}
	})
	c := client(t)
	get(t, c, Request{URL: url})
	get(t, c, Request{URL: url})
}

// proxied counts requests to the proxy of the environment.
var proxied atomic.Int32

// TestMain sets the environment first: net/http reads it only once.
func TestMain(m *testing.M) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		os.Setenv(name, proxy.URL)
	}
	os.Exit(m.Run())
}

// The address is private: without a proxy it is blocked, with a proxy the request would reach the proxy.
func TestClient_IgnoresProxiesOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "https"} {
		fails(t, client(t), Request{URL: scheme + "://10.9.8.7/"}, ClassBlocked)
	}
	if proxied.Load() > 0 {
		t.Error("the proxy received a request")
	}
}

func TestFetch_TimeoutIsReported(t *testing.T) {
	t.Parallel()
	const limit = 200 * time.Millisecond
	until := func(r *http.Request) { <-r.Context().Done() }
	for name, h := range map[string]http.HandlerFunc{
		"no headers": func(_ http.ResponseWriter, r *http.Request) { until(r) },
		"no body": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			until(r)
		},
		"half a gzip": func(w http.ResponseWriter, r *http.Request) {
			w.Write(encodings["gzip"](t, noise(100))[:50])
			w.(http.Flusher).Flush()
			until(r)
		},
		"half a br": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			w.Write(encodings["br"](t, noise(100))[:50])
			w.(http.Flusher).Flush()
			until(r)
		},
		"a drip": func(w http.ResponseWriter, r *http.Request) {
			for tick := time.NewTicker(10 * time.Millisecond); r.Context().Err() == nil; <-tick.C {
				io.WriteString(w, ".")
				w.(http.Flusher).Flush()
			}
		},
		"a slow chain": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(limit / 3):
			case <-r.Context().Done():
			}
			http.Redirect(w, r, "/"+r.URL.Path, http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			e := fails(t, client(t, within(limit)), Request{URL: serve(t, h)}, ClassTimeout)
			if got, want := e.Error(), "no complete response within 200ms"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if took := time.Since(began); took > limit+20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

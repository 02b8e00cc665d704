package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestStatusError_ClassifiesStatuses(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
	})
	c := client(t)
	for _, x := range []struct {
		status int
		class  Class
		text   string
	}{
		{204, ClassStatus, "the server returned 204 No Content"},
		{206, ClassStatus, "the server returned 206 Partial Content"},
		{300, ClassRedirect, "the server returned 300 Multiple Choices"},
		{302, ClassRedirect, "the server returned 302 Found"},
		{400, ClassClient, "the server returned 400 Bad Request"},
		{401, ClassLogin, "127.0.0.1 requires a user name and a password; set them for the feed"},
		{403, ClassClient, "the server returned 403 Forbidden"},
		{404, ClassClient, "the server returned 404 Not Found"},
		{410, ClassClient, "the server returned 410 Gone"},
		{429, ClassClient, "the server returned 429 Too Many Requests"},
		{500, ClassServer, "the server returned 500 Internal Server Error"},
		{503, ClassServer, "the server returned 503 Service Unavailable"},
		{799, ClassServer, "the server returned 799"},
	} {
		e := fails(t, c, Request{URL: fmt.Sprintf("%s/%d", url, x.status)}, x.class)
		if e.Status != x.status || e.Error() != x.text || e.RetryAfter != 0 {
			t.Errorf("got %d, %q, Retry-After %v; want %d, %q, 0", e.Status, e, e.RetryAfter, x.status, x.text)
		}
	}
}

func TestRetryAfter_ParsesBothForms(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const week = 7 * 24 * time.Hour
	for _, x := range []struct {
		status int
		value  string
		want   time.Duration
	}{
		{429, "120", 2 * time.Minute},
		{503, "120", 2 * time.Minute},
		{429, " 120 ", 2 * time.Minute},
		{429, "Fri, 02 Jan 2026 03:14:05 GMT", 10 * time.Minute},
		{503, "Friday, 02-Jan-26 03:14:05 GMT", 10 * time.Minute},
		{503, "Fri Jan  2 03:14:05 2026", 10 * time.Minute},
		{429, "604799", week - time.Second},
		{429, "604801", week},
		{429, "9999999999", week},
		{429, "99999999999999999999999", week},
		{503, "Fri, 02 Jan 2026 03:04:05 +0000", 0},
		{503, "Fri, 31 Dec 9999 23:59:59 GMT", week},
		{429, "0", 0}, {429, "-5", 0}, {429, "-99999999999999999999999", 0},
		{429, "Thu, 01 Jan 2026 00:00:00 GMT", 0},
		{429, "", 0}, {429, "soon", 0}, {429, "1h", 0}, {429, "NaN", 0}, {429, "1e9", 0},
		{500, "120", 0}, {404, "120", 0},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", x.value)
			w.WriteHeader(x.status)
		})
		_, err := client(t).Fetch(t.Context(), Request{URL: url}, now)
		var e *Error
		if !errors.As(err, &e) || e.Status != x.status || e.RetryAfter != x.want {
			t.Errorf("%d, Retry-After: %q: got %+v, want %v", x.status, x.value, e, x.want)
		}
	}
}

// raw returns the address of a server that reads a request and then calls a function in place of HTTP.
func raw(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 4096))
			answer(conn)
			conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func reset(conn net.Conn) { conn.(*net.TCPConn).SetLinger(0) }

func TestFetch_ClassifiesFailures(t *testing.T) {
	t.Parallel()
	quiet := func(s *httptest.Server) *httptest.Server {
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		return s
	}
	secure := func(change func(*httptest.Server)) string {
		s := quiet(httptest.NewUnstartedServer(http.NotFoundHandler()))
		change(s)
		t.Cleanup(s.Close)
		return s.URL
	}
	closed := closedPort(t)
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n"
	for _, x := range []struct {
		name, url string
		want      Class
	}{
		{"no listener", closed, ClassConnect},
		{"an untrusted certificate", secure((*httptest.Server).StartTLS), ClassTLS},
		{"old TLS only", secure(func(s *httptest.Server) {
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}
			s.StartTLS()
		}), ClassTLS},
		{"https received of http", "https" + strings.TrimPrefix(serve(t, func(http.ResponseWriter, *http.Request) {}), "http"), ClassTLS},
		{"reset before the answer", raw(t, reset), ClassReset},
		{"closed before the answer", raw(t, func(net.Conn) {}), ClassReset},
		{"reset in the headers", raw(t, func(c net.Conn) { io.WriteString(c, head); reset(c) }), ClassReset},
		{"reset in the body", raw(t, func(c net.Conn) { io.WriteString(c, head+"\r\n<rss>"); reset(c) }), ClassReset},
		{"closed in the body", raw(t, func(c net.Conn) { io.WriteString(c, head+"\r\n<rss>") }), ClassReset},
		{"closed in a gzip", raw(t, func(c net.Conn) {
			io.WriteString(c, head+"Content-Encoding: gzip\r\n\r\n"+string(zipped(t, noise(900))[:500]))
		}), ClassReset},
		{"closed in a br", raw(t, func(c net.Conn) {
			io.WriteString(c, head+"Content-Encoding: br\r\n\r\n"+string(encodings["br"](t, noise(900))[:500]))
		}), ClassReset},
		{"closed in a zstd", raw(t, func(c net.Conn) {
			io.WriteString(c, head+"Content-Encoding: zstd\r\n\r\n"+string(encodings["zstd"](t, noise(900))[:500]))
		}), ClassReset},
		{"closed in a chunk", raw(t, func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n<rss>")
		}), ClassReset},
		{"no HTTP", raw(t, func(c net.Conn) { io.WriteString(c, "220 mail.example.org ESMTP\r\n") }), ClassReset},
		{"no HTTP, and much of it", raw(t, func(c net.Conn) { io.WriteString(c, strings.Repeat("ж", 50_000)+"\r\n\r\n") }), ClassReset},
		{"headers without end", raw(t, func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for range 5_000 {
				if _, err := io.WriteString(c, "X-A: "+strings.Repeat("x", 100)+"\r\n"); err != nil {
					return
				}
			}
		}), ClassReset},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			e := fails(t, client(t), Request{URL: x.url}, x.want)
			if e.Status != 0 || e.Error() == "" || len(e.Error()) > 400 {
				t.Errorf("got status %d and text %q, want 0 and a sentence", e.Status, e)
			}
		})
	}
}

// Tests have no resolver, so these are errors in the form that the resolver and the dialer return.
func TestClassify_SeparatesResolverAndDialErrors(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		err  error
		want Class
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "a", IsNotFound: true}}, ClassDNS},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", Name: "a", IsTemporary: true}}, ClassResolver},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "i/o timeout", Name: "a", IsTimeout: true}}, ClassTimeout},
		{&net.OpError{Op: "dial", Err: context.DeadlineExceeded}, ClassTimeout},
		{&net.OpError{Op: "dial", Err: errors.New("network is unreachable")}, ClassConnect},
		{&net.OpError{Op: "dial", Err: fmt.Errorf("%w: 10.0.0.1", ErrBlocked)}, ClassBlocked},
		{&net.OpError{Op: "read", Err: errors.New("broken")}, ClassReset},
		{errors.New("anything else"), ClassReset},
	} {
		if got := classify(x.err); got.Class != x.want || !errors.Is(got, x.err) {
			t.Errorf("%v: got %q, want %q and the error inside", x.err, got.Class, x.want)
		}
	}
}

func TestFetch_ErrorOmitsTheAddress(t *testing.T) {
	t.Parallel()
	closed := closedPort(t)
	busy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "http://me:s3cret@"+r.Host+"/loop", http.StatusFound)
		case "/slow":
			<-r.Context().Done()
		case "/big":
			w.Write(make([]byte, 2<<20))
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	})
	with := func(url string) string { return strings.Replace(url, "//", "//me:s3cret@", 1) + "?key=s3cret" }
	for _, url := range []string{
		with(closed), with(busy), with(busy + "/loop"), with(busy + "/slow"), with(busy + "/big"), with("http://10.0.0.1/"), with("ftp://host/"),
		"http://me:s3cret@host:port/", "http://me:s3cret/2@host/", "http://me:s3cret@[::1/", "http://me:s3cret@ho st/", "http://me:s3cret@host/%zz", "http://me:s3cret@/",
	} {
		_, err := client(t, within(500*time.Millisecond)).Fetch(t.Context(), Request{URL: url}, time.Now())
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "s3cret") {
			t.Errorf("%s: got %v, want an error without the address", url, err)
		}
	}
}

func TestFetch_InvalidAddressIsReported(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "%", "http://", "http://host:port/", "ftp://host/", "host/feed", "http://[::1/"} {
		fails(t, client(t), Request{URL: url}, ClassAddress)
	}
}

func TestFetch_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := client(t).Fetch(ctx, Request{URL: url}, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

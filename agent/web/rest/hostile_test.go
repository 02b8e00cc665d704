package rest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/web/sse"
)

func TestRequests_OversizedAreRejected(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	deep := strings.Repeat(`[`, 100_000)
	for _, c := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"a long query", "GET", "/api/search?q=" + strings.Repeat("x", 5000), "", 422},
		{"many parameters", "GET", "/api/search?" + strings.Repeat("q=x&", 5000), "", 200}, // the first counts
		{"a long ID", "GET", "/api/items/" + strings.Repeat("x", 5000), "", 422},
		{"a long cursor", "GET", "/api/search?cursor=" + strings.Repeat("x", 20_000), "", 422},
		{"deep JSON", "POST", "/api/feeds", `{"urls":` + deep, 400},
		{"a large body", "POST", "/api/feeds", `{"urls":["` + strings.Repeat("x", service.MaxImport) + `"]}`, 413},
		{"a large number", "GET", "/api/search?limit=" + strings.Repeat("9", 400), "", 422},
		{"many addresses", "POST", "/api/feeds", `{"urls":[` + strings.Repeat(`"x",`, 100_000) + `"x"]}`, 422},
	} {
		begun := time.Now()
		a := w.request(t, c.method, c.path, c.body)
		if a.StatusCode != c.want {
			t.Errorf("%s: got %d %.200s, want %d", c.name, a.StatusCode, a.body, c.want)
		}
		if c.want >= 400 {
			a.isProblem(t, c.want, "")
		}
		if took := time.Since(begun); took > time.Minute || len(a.body) > 1<<20 {
			t.Errorf("%s: the rejection took %v and %d bytes", c.name, took, len(a.body))
		}
	}
}

// listening serves the API at a loopback address.
func (w *testbed) listening(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.serving(t, l)
	return l
}

// serving serves the API as a node does.
func (w *testbed) serving(t *testing.T, l net.Listener) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := Serve(ctx, l, w.handler(http.NotFoundHandler()), slog.New(slog.DiscardHandler)); err != nil {
			t.Errorf("serving ended: %v", err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
}

func TestRequests_GarbageIsRejected(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	l := w.listening(t)
	for _, c := range []struct{ name, sent string }{
		{"noise", "\x00\x01\x02\xff\xfe\r\n\r\n"},
		{"no version", "GET /\r\n\r\n"},
		{"another version", "GET / HTTP/3.0\r\nHost: localhost\r\n\r\n"},
		{"no host", "GET /api/feeds HTTP/1.1\r\n\r\n"},
		{"two hosts", "GET /api/feeds HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"},
		{"a host with a path", "GET /api/feeds HTTP/1.1\r\nHost: localhost/x\r\n\r\n"},
		{"a header with a NUL", "GET /api/feeds HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n"},
		{"a header without a name", "GET /api/feeds HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n"},
		{"a name with a space", "GET /api/feeds HTTP/1.1\r\nHost: localhost\r\nAuthorization : Bearer x\r\n\r\n"},
		{"a folded header", "GET /api/feeds HTTP/1.1\r\nHost: evil.example\r\n Host: localhost\r\n\r\n"},
		{"two lengths", "POST /api/feeds HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"},
		{"an endless chunk", "POST /api/feeds HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}"},
		{"another coding", "POST /api/feeds HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n"},
		{"large headers", "GET /api/feeds HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n"},
		{"many headers", "GET /api/feeds HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: x\r\n", 20<<10) + "\r\n"},
		{"a whole address of another", "GET http://evil.example/api/feeds HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		{"a way through", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n"},
	} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(10 * time.Second))
		go io.WriteString(conn, c.sent) // it may be rejected before it is sent completely
		line, _ := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		if status := strings.TrimPrefix(line, "HTTP/1.1 "); line != "" && !strings.HasPrefix(status, "4") && !strings.HasPrefix(status, "5") {
			t.Errorf("%s: got %s, want it rejected", c.name, line)
		}
	}
	resp, err := http.Get("http://" + l.Addr().String() + "/api/feeds")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != 200 {
		t.Errorf("after all that: got %d, want 200", resp.StatusCode)
	}
}

func TestRequests_SlowHeadersTimeOut(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it waits ten seconds")
	}
	t.Parallel()
	w := newTestbed(t)
	l := w.listening(t)
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		io.Copy(io.Discard, conn)
	}()
	io.WriteString(conn, "GET / HTTP/1.1\r\n")
	for range 30 {
		select {
		case <-ended:
			return
		case <-time.After(time.Second):
			io.WriteString(conn, "X: x\r\n") // a little at a time
		}
	}
	t.Error("headers that come slowly were waited for longer than 30 s; the server's limit is 10 s")
}

// Browsers send the origin of each request. Requests without an origin come from other clients, which need a
// token.
func TestRequests_CrossSiteWritesAreRejected(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	paths := map[string]string{"POST": "/api/feeds/" + w.feed + "/refresh", "PUT": "/api/proxies/p1", "PATCH": "/api/feeds/" + w.feed, "DELETE": "/api/items/" + w.item + "/spam"}
	own := "http://" + w.Listener.Addr().String()
	for _, origin := range []string{"", own, "https://evil.example", "null", "http://localhost:1", "http://127.0.0.1.evil.example"} {
		for _, fetched := range []string{"", "same-origin", "none", "same-site", "cross-site"} {
			for method, path := range paths {
				for _, page := range []string{path, "/feeds/x/refresh"} {
					headers := []string{"Content-Type", "text/plain"}
					if origin != "" {
						headers = append(headers, "Origin", origin)
					}
					if fetched != "" {
						headers = append(headers, "Sec-Fetch-Site", fetched)
					}
					a := w.request(t, method, page, "", headers...)
					may := fetched == "same-origin" || fetched == "none" || fetched == "" && (origin == "" || origin == own)
					if got := a.StatusCode != http.StatusForbidden; got != may {
						t.Errorf("%s %s from %q, fetched %q: got %d %s, want it allowed: %v", method, page, origin, fetched, a.StatusCode, a.body, may)
					}
				}
			}
		}
	}
}

// A pipeListener accepts in-memory connections, which need no file descriptors.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error { l.once.Do(func() { close(l.done) }); return nil }

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// request opens a connection, sends a GET, and returns the status, with the connection.
func (l *pipeListener) request(path, auth string) (status int, conn net.Conn, err error) {
	here, there := net.Pipe()
	l.conns <- there
	here.SetDeadline(time.Now().Add(time.Minute))
	if _, err = fmt.Fprintf(here, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n\r\n", path, auth); err != nil {
		return 0, here, err
	}
	line := make([]byte, len("HTTP/1.1 200"))
	if _, err = io.ReadFull(here, line); err == nil {
		_, err = fmt.Sscanf(string(line), "HTTP/1.1 %d", &status)
	}
	return status, here, err
}

// Ten thousand clients open a stream and do not read it.
func TestStreams_UnreadAreLimitedAndEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it opens 10,000 connections")
	}
	w := newTestbed(t, withOwner)
	pipes := newPipes()
	w.serving(t, pipes)
	var secrets []string
	for range 100 {
		secrets = append(secrets, "Bearer "+w.secret(t, access.Read))
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var mu sync.Mutex
	statuses, conns := map[int]int{}, []net.Conn{}
	var asking sync.WaitGroup
	began := time.Now()
	for from := range 50 {
		asking.Go(func() {
			for i := range 200 {
				status, conn, err := pipes.request("/api/events", secrets[(from*200+i)%len(secrets)])
				mu.Lock()
				if statuses[status]++; err != nil {
					t.Error(err)
				}
				conns = append(conns, conn)
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	rounds := 1 + int(time.Since(began)/sse.WriteTimeout) // other streams may replace those that end
	runtime.GC()
	runtime.ReadMemStats(&after)
	if statuses[200] < service.MaxStreams || statuses[200] > service.MaxStreams*rounds || statuses[200]+statuses[429] != 10_000 {
		t.Errorf("got %v, want %d streams, in %d rounds, and the others refused", statuses, service.MaxStreams, rounds)
	}
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 512<<20 {
		t.Errorf("they hold %d MB", held>>20)
	}
	begun := time.Now()
	if status, conn, err := pipes.request("/livez", ""); err != nil || status != 200 || time.Since(begun) > sse.WriteTimeout-time.Second {
		t.Errorf("another client: got %d, %v after %v; want to be served", status, err, time.Since(begun))
	} else {
		conn.Close()
	}
	for deadline := time.Now().Add(time.Minute); w.server.Events.Open() > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d unread streams are still open", w.server.Events.Open())
		}
	}
	for _, conn := range conns {
		conn.Close()
	}
}

package fetch

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// serveTLS returns a server with a self-signed certificate; see [secured].
func serveTLS(t *testing.T, h2 bool, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = h2
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// secured returns a client that trusts the server's certificate.
func secured(t *testing.T, s *httptest.Server) *Client {
	t.Helper()
	c := client(t)
	for _, transport := range []*http.Transport{c.direct, c.proxied} {
		transport.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	}
	return c
}

func TestClient_UsesHTTP2AndReusesConnections(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	conns := map[string]bool{}
	for proto, h2 := range map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false} {
		clear(conns)
		s := serveTLS(t, h2, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			conns[r.RemoteAddr] = true
			mu.Unlock()
			if r.Proto != proto {
				t.Errorf("got %s, want %s", r.Proto, proto)
			}
			status := 200
			fmt.Sscanf(r.URL.Path, "/%d", &status)
			w.WriteHeader(status)
			io.WriteString(w, "some body")
		})
		c := secured(t, s)
		for _, path := range []string{"/200", "/404", "/500", "/200"} {
			c.Fetch(t.Context(), Request{URL: s.URL + path}, time.Now())
		}
		if len(conns) != 1 {
			t.Errorf("%s: got %d connections for 4 requests, want 1", proto, len(conns))
		}
	}
}

// With Close, no host of a redirect chain keeps a connection.
func TestRequest_CloseClosesAllConnections(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{true, false} {
		open := make(chan int, 16) // receives 1 for a new connection, -1 for a closed one
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/moved":
				http.Redirect(w, r, "/", http.StatusMovedPermanently)
			case "/same":
				w.WriteHeader(http.StatusNotModified)
			default:
				io.WriteString(w, "some body")
			}
		}))
		s.EnableHTTP2 = h2
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open <- 1
			case http.StateClosed:
				open <- -1
			}
		}
		s.StartTLS()
		t.Cleanup(s.Close)
		c := secured(t, s)
		for path, hops := range map[string]int{"/": 1, "/same": 1, "/moved": 2} {
			get(t, c, Request{URL: s.URL + path, ETag: `"1"`, Close: true})
			for changes, now := 0, 0; changes < 2*hops || now > 0; changes++ {
				select {
				case more := <-open:
					now += more
				case <-time.After(time.Minute):
					t.Fatalf("HTTP/2 %v, %s: %d connections are open after %d of %d changes", h2, path, now, changes, 2*hops)
				}
			}
		}
	}
}

// With many hosts the number of idle connections is bounded.
func TestClient_IdleConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	most := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		switch state {
		case http.StateNew:
			open[conn] = true
		case http.StateClosed:
			delete(open, conn)
		}
		most = max(most, len(open))
	}
	s.Start()
	t.Cleanup(s.Close)
	names := &nameserver{ttl: 60, find: func(string) []string { return []string{"127.0.0.1"} }}
	c := named(t, names, func(o *Options) { o.Parallel = 1 })
	for i := range 200 {
		get(t, c, Request{URL: at(s.URL, fmt.Sprintf("host%d.test", i))})
	}
	mu.Lock()
	defer mu.Unlock()
	if most > idleConnsPerFetch+10 { // some close a moment later
		t.Errorf("got %d open connections, want about 64", most)
	}
}

func TestMaxIdleConns_LeavesMostOpenFilesFree(t *testing.T) {
	for _, c := range []struct{ parallel, files, want int }{
		{64, 20_000, 4096},
		{64, 1024, 256},
		{1, 20_000, 64},
		{1000, 20_000, 4096},
		{10_000, 1 << 20, 40_000},
		{1, 128, 64}, // the minimum that a node needs
	} {
		if got := maxIdleConns(c.parallel, c.files); got != c.want {
			t.Errorf("%d fetches at a time, %d open files: got %d connections, want %d", c.parallel, c.files, got, c.want)
		}
	}
}

package fetch

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// A proxyServer is a proxy for tests. It accepts the user me with the password s3cret, and counts
// connections.
type proxyServer struct {
	url         string // with the user
	connections atomic.Int32
	to          atomic.Value // the last requested address
}

// join copies in both directions until one side ends.
func join(a, b net.Conn) {
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		go func() { io.Copy(pair[0], pair[1]); done <- struct{}{} }()
	}
	<-done
	a.Close()
	b.Close()
	<-done
}

// ServeHTTP forwards http requests and tunnels https.
func (p *proxyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.connections.Add(1)
	p.to.Store(r.Host)
	if r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("me:s3cret")) {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method == http.MethodConnect {
		host, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			host.Close()
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		join(conn, host)
		return
	}
	r.Header.Del("Proxy-Authorization")
	r.RequestURI = ""
	answer, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(r)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	io.Copy(w, answer.Body)
}

func withUser(raw string) string { return strings.Replace(raw, "//", "//me:s3cret@", 1) }

func httpProxy(t *testing.T) *proxyServer {
	t.Helper()
	p := &proxyServer{}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url = withUser(s.URL)
	return p
}

// socksProxy implements the part of SOCKS 5 (RFC 1928, 1929) that clients need.
func socksProxy(t *testing.T) *proxyServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &proxyServer{url: withUser("socks5://" + l.Addr().String())}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go p.socks(conn)
		}
	}()
	return p
}

func (p *proxyServer) socks(conn net.Conn) {
	defer conn.Close()
	p.connections.Add(1)
	r := bufio.NewReader(conn)
	take := func(n byte) string {
		b := make([]byte, n)
		io.ReadFull(r, b)
		return string(b)
	}
	counted := func() string { return take(take(1)[0]) }
	take(1) // version
	if !strings.Contains(counted(), "\x02") {
		conn.Write([]byte{5, 0xff})
		return
	}
	conn.Write([]byte{5, 2})
	take(1)
	if user, password := counted(), counted(); user != "me" || password != "s3cret" {
		conn.Write([]byte{1, 1})
		return
	}
	conn.Write([]byte{1, 0})
	var host string
	switch take(4)[3] {
	case 1:
		host = net.IP(take(4)).String()
	case 3:
		host = counted()
	case 4:
		host = net.IP(take(16)).String()
	}
	port := take(2)
	to := net.JoinHostPort(host, strconv.Itoa(int(port[0])<<8|int(port[1])))
	p.to.Store(to)
	there, err := net.Dial("tcp", to)
	if err != nil {
		conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0}) // connection refused
		return
	}
	conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	join(conn, there)
}

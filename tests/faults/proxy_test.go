//go:build linux

package faults

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A proxy forwards connections to a server. It can delay the server's responses, and lose what is sent.
type proxy struct {
	listener net.Listener
	server   string
	delay    atomic.Int64 // of each response

	mu   sync.Mutex
	cut  bool
	open map[net.Conn]bool // connections of clients
}

// newProxy returns a proxy that ends with the test.
func newProxy(t *testing.T, server string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{listener: l, server: server, open: map[net.Conn]bool{}}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(client)
		}
	}()
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// slow delays each response from now on.
func (p *proxy) slow(d time.Duration) { p.delay.Store(int64(d)) }

// partition begins to lose what is sent, as a broken network does, without closing connections. Its end closes
// those that lost something.
func (p *proxy) partition(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	if cut {
		return
	}
	for conn := range p.open {
		conn.Close()
	}
}

func (p *proxy) loses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

// hold registers a connection, and returns a function that closes and forgets it.
func (p *proxy) hold(conn net.Conn) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[conn] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, conn)
		conn.Close()
	}
}

func (p *proxy) pass(client net.Conn) {
	defer p.hold(client)()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var requested atomic.Bool // since the last response
	go func() {
		defer server.Close()
		copyFor(server, client, func() bool {
			requested.Store(true)
			return !p.loses()
		})
	}()
	copyFor(client, server, func() bool {
		if requested.Swap(false) {
			time.Sleep(time.Duration(p.delay.Load()))
		}
		return !p.loses()
	})
}

// copyFor copies until either side closes. Before each write it calls a function, which reports whether to
// write.
func copyFor(to io.Writer, from io.Reader, before func() bool) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if before() {
				if _, err := to.Write(b[:n]); err != nil {
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

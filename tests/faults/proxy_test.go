//go:build linux

package faults

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// A proxy forwards connections to a server, and can delay its responses.
type proxy struct {
	listener net.Listener
	server   string
	delay    atomic.Int64 // of each response
}

// newProxy returns a proxy that ends with the test.
func newProxy(t *testing.T, server string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{listener: l, server: server}
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

func (p *proxy) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var requested atomic.Bool // since the last response
	go func() {
		defer server.Close()
		copyNoting(server, client, func() { requested.Store(true) })
	}()
	copyNoting(client, server, func() {
		if requested.Swap(false) {
			time.Sleep(time.Duration(p.delay.Load()))
		}
	})
}

// copyNoting copies until either side closes, and calls a function before each write.
func copyNoting(to io.Writer, from io.Reader, before func()) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			before()
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

//go:build linux

package faults

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// A proxy passes connections on to a server, and can have it answer late.
type proxy struct {
	listener net.Listener
	server   string
	delay    atomic.Int64 // of each answer
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

// slow has each answer wait from now on.
func (p *proxy) slow(d time.Duration) { p.delay.Store(int64(d)) }

func (p *proxy) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var asked atomic.Bool // since the last answer
	go func() {
		defer server.Close()
		copyNoting(server, client, func() { asked.Store(true) })
	}()
	copyNoting(client, server, func() {
		if asked.Swap(false) {
			time.Sleep(time.Duration(p.delay.Load()))
		}
	})
}

// copyNoting copies until either end closes, and calls before each write.
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

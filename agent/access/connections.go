package access

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

const (
	maxConnections       = 4096        // of a listener; further ones wait in the backlog of the kernel
	maxClientConnections = 256         // of a client; a browser opens six, and one for each tab with events
	rejectionLogInterval = time.Minute // between two warnings
)

// LimitConnections returns a listener that bounds the connections that are open at the same time, to 4096, and
// those of each client to 256: further ones of the client are closed at once, with a warning in the log once a
// minute. A client is an IPv4 address or an IPv6 network of 64 bits. Loopback addresses and trusted proxies, which
// connect for many clients, have the first bound only.
func LimitConnections(l net.Listener, trusted Proxies, log *slog.Logger) net.Listener {
	clients := &clientListener{Listener: l, trusted: trusted, log: log, most: maxClientConnections, open: map[netip.Addr]int{}}
	return netutil.LimitListener(clients, maxConnections)
}

// A clientListener bounds the open connections of each client.
type clientListener struct {
	net.Listener
	trusted Proxies
	log     *slog.Logger
	most    int

	mu     sync.Mutex
	open   map[netip.Addr]int
	warned time.Time
}

func (l *clientListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client, bounded := l.clientOf(c.RemoteAddr())
		switch {
		case !bounded:
			return c, nil
		case l.add(client):
			return &clientConn{Conn: c, closed: sync.OnceFunc(func() { l.remove(client) })}, nil
		}
		c.Close()
	}
}

// clientOf returns the client of an address, and whether its connections are bounded.
func (l *clientListener) clientOf(address net.Addr) (client netip.Addr, bounded bool) {
	peer := peerOf(address.String())
	if !peer.IsValid() || peer.IsLoopback() || l.trusted.contain(peer) {
		return peer, false
	}
	if peer.Is6() {
		network, _ := peer.WithZone("").Prefix(64) // never fails for an IPv6 address
		return network.Addr(), true
	}
	return peer, true
}

// add counts a connection of a client, unless the client has too many.
func (l *clientListener) add(client netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client] < l.most {
		l.open[client]++
		return true
	}
	if now := time.Now(); now.Sub(l.warned) > rejectionLogInterval {
		l.warned = now
		l.log.Warn("connections rejected", "client", client, "open", l.open[client])
	}
	return false
}

func (l *clientListener) remove(client netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client]--; l.open[client] == 0 {
		delete(l.open, client)
	}
}

// A clientConn is a counted connection.
type clientConn struct {
	net.Conn
	closed func()
}

func (c *clientConn) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

package access

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// A queuedListener accepts the given connections.
type queuedListener struct {
	net.Listener
	conns []net.Conn
}

func (l *queuedListener) Accept() (net.Conn, error) {
	if len(l.conns) == 0 {
		return nil, net.ErrClosed
	}
	c := l.conns[0]
	l.conns = l.conns[1:]
	return c, nil
}

// An addressedConn is a connection from an address.
type addressedConn struct {
	net.Conn
	from string
}

func (c addressedConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}

func TestLimitConnections_BoundsThoseOfAClient(t *testing.T) {
	for name, test := range map[string]struct {
		from []string // addresses that connect in turn
		want int      // connections accepted of ten
	}{
		"IPv4":               {[]string{"192.0.2.1:1", "192.0.2.1:2"}, 3},
		"IPv4 in IPv6":       {[]string{"[::ffff:192.0.2.1]:1", "192.0.2.1:2"}, 3},
		"an IPv6 network":    {[]string{"[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::ffff:1]:1"}, 3},
		"two IPv6 networks":  {[]string{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1"}, 6},
		"two clients":        {[]string{"192.0.2.1:1", "192.0.2.2:1"}, 6},
		"loopback addresses": {[]string{"127.0.0.1:1", "[::1]:1"}, 10},
		"a trusted proxy":    {[]string{"10.0.0.7:1"}, 10},
	} {
		var log bytes.Buffer
		inner := &queuedListener{}
		for i := range 10 {
			near, far := net.Pipe()
			t.Cleanup(func() { near.Close(); far.Close() })
			inner.conns = append(inner.conns, addressedConn{near, test.from[i%len(test.from)]})
		}
		l := &clientListener{
			Listener: inner, trusted: Proxies{netip.MustParsePrefix("10.0.0.0/8")}, log: slog.New(slog.NewTextHandler(&log, nil)),
			most: 3, open: map[netip.Addr]int{},
		}
		var accepted []net.Conn
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				break
			}
			accepted = append(accepted, c)
		}
		if len(accepted) != test.want {
			t.Errorf("%s: got %d connections, want %d", name, len(accepted), test.want)
		}
		if got := strings.Count(log.String(), "connections rejected"); got != min(1, 10-test.want) {
			t.Errorf("%s: got %d warnings, want one if connections were rejected", name, got)
		}
		for _, c := range accepted {
			c.Close()
			c.Close() // counts once
		}
		if len(l.open) != 0 {
			t.Errorf("%s: got %v open, want none", name, l.open)
		}
	}
}

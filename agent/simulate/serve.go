package simulate

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// A Server serves a [Web] to clients on this machine only.
type Server struct {
	Port    int // of all hosts
	servers []*http.Server
}

// Serve serves the web until Close, on one port of all its hosts' addresses; address names that port of
// 127.0.0.1. With several hosts it listens on all addresses of this machine, but closes connections from
// other machines. If proxy is set, it also serves a forward proxy to all hosts there. Port 0 selects a free
// port.
//
// Linux and Windows support all of 127.0.0.0/8; other systems support 127.0.0.1 only, and so one host.
func (w *Web) Serve(address, proxy string) (*Server, error) {
	listen, err := w.listen(address)
	if err != nil {
		return nil, err
	}
	s := &Server{Port: listen.Addr().(*net.TCPAddr).Port}
	s.start(listen, w)
	if proxy != "" {
		if err := CheckAddress(proxy); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		listen, err := net.Listen("tcp", proxy)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("listen as a proxy: %w", err), s.Close())
		}
		s.start(listen, http.HandlerFunc(w.forward))
	}
	return s, nil
}

// Close closes all connections.
func (s *Server) Close() error {
	var faults []error
	for _, server := range s.servers {
		faults = append(faults, server.Close())
	}
	return errors.Join(faults...)
}

func (s *Server) start(listen net.Listener, handler http.Handler) {
	server := &http.Server{Addr: listen.Addr().String(), Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	s.servers = append(s.servers, server)
	go server.Serve(localListener{listen})
}

// listen listens for all hosts.
func (w *Web) listen(address string) (net.Listener, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	if w.settings.Hosts > 1 {
		if err := SeveralHosts(); err != nil {
			return nil, err
		}
		_, port, _ := net.SplitHostPort(address)
		address = "0.0.0.0:" + port
	}
	listen, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for readers of feeds: %w", err)
	}
	return listen, nil
}

// CheckAddress returns an error if an address is not a port of 127.0.0.1.
func CheckAddress(address string) error {
	if at, err := netip.ParseAddrPort(address); err != nil || at.Addr() != netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
		return fmt.Errorf("invalid address %q: simulated feeds are served on this machine only; write 127.0.0.1:PORT", address)
	}
	return nil
}

// SeveralHosts returns an error if this system supports 127.0.0.1 only, so that all feeds must be on one
// host.
func SeveralHosts() error {
	l, err := net.Listen("tcp", "127.1.0.1:0")
	if err != nil {
		return fmt.Errorf("of all addresses for itself this system has 127.0.0.1 only, so that all feeds must be on one host: %w", err)
	}
	return l.Close()
}

// localListener is a listener that accepts connections from this machine only.
type localListener struct{ net.Listener }

// Accept returns the next connection from this machine.
func (l localListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if own(conn.LocalAddr()) && own(conn.RemoteAddr()) {
			return conn, nil
		}
		conn.Close()
	}
}

func own(a net.Addr) bool {
	tcp, is := a.(*net.TCPAddr)
	return is && tcp.IP.IsLoopback()
}

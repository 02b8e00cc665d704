package access

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of the reverse proxies that may state for which client they forward a request.
type Proxies []netip.Prefix

// Errors of [Proxies.Resolve].
var (
	ErrUntrustedProxy   = errors.New("the request was forwarded by a proxy that is not trusted")
	ErrAmbiguousAddress = errors.New("the headers Forwarded and X-Forwarded-For name different clients")
)

// Resolve returns the request with the address of its client as RemoteAddr. Behind a trusted proxy that is the
// last address of X-Forwarded-For, or of Forwarded, that is no trusted proxy: clients may send the addresses before
// it themselves. Without such an address it is the proxy's.
//
// [IsForwarded] reports the result for the request. The error is [ErrUntrustedProxy], which names a header that
// only proxies send, or [ErrAmbiguousAddress].
//
// Source: RFC 7239.
func (p Proxies) Resolve(r *http.Request) (*http.Request, error) {
	peer := peerOf(r.RemoteAddr)
	if !p.contain(peer) {
		if name := forwardingHeader(r.Header); name != "" {
			return r, fmt.Errorf("%w: its address is %s and it sent %s", ErrUntrustedProxy, r.RemoteAddr, name)
		}
		return r, nil
	}
	resolved := r.WithContext(context.WithValue(r.Context(), forwardedKey{}, true))
	byX, byForwarded := r.Header.Values("X-Forwarded-For"), forwardedFor(r.Header.Values("Forwarded"))
	client := p.lastClient(peer, splitList(byX))
	switch other := p.lastClient(peer, byForwarded); {
	case len(byX) == 0:
		client = other
	case len(byForwarded) > 0 && other != client:
		return r, ErrAmbiguousAddress
	}
	resolved.RemoteAddr = net.JoinHostPort(client.String(), "0")
	return resolved, nil
}

type forwardedKey struct{}

// IsForwarded reports whether a trusted proxy forwarded the request.
func IsForwarded(r *http.Request) bool {
	is, _ := r.Context().Value(forwardedKey{}).(bool)
	return is
}

func (p Proxies) contain(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(a) })
}

// lastClient returns the last address of a list that is no trusted proxy. An invalid address ends the list: then it
// is the proxy that received from it.
func (p Proxies) lastClient(peer netip.Addr, list []string) netip.Addr {
	client := peer
	for _, text := range slices.Backward(list) {
		a, err := parseNode(text)
		if err != nil {
			break
		}
		if client = a; !p.contain(a) {
			break
		}
	}
	return client
}

// peerOf returns the address of a connection; the zero value if it is none.
func peerOf(remote string) netip.Addr {
	a, _ := parseNode(remote)
	return a
}

// parseNode parses an address with or without a port, as proxies write it.
func parseNode(text string) (netip.Addr, error) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone(""), err
}

// splitList returns the elements of header fields with comma-separated lists.
func splitList(fields []string) (list []string) {
	for _, field := range fields {
		for element := range strings.SplitSeq(field, ",") {
			list = append(list, strings.TrimSpace(element))
		}
	}
	return list
}

// forwardedFor returns the values of the parameter for of Forwarded fields; an element without it yields "".
func forwardedFor(fields []string) (list []string) {
	for _, element := range splitList(fields) {
		node := ""
		for pair := range strings.SplitSeq(element, ";") {
			if name, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "for") {
				node = strings.Trim(value, `"`)
			}
		}
		list = append(list, node)
	}
	return list
}

// forwardingHeader returns the name of a header by which a proxy states for whom it forwards a request, "" for
// none. Via names only a proxy, which may be the client's own.
func forwardingHeader(h http.Header) string {
	for name := range h {
		if slices.Contains(addressHeaders, name) || strings.HasPrefix(name, "X-Forwarded-") {
			return name
		}
	}
	return ""
}

// addressHeaders are the canonical names of headers that state a client's address.
var addressHeaders = []string{"Forwarded", "X-Forwarded", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip", "X-Original-Forwarded-For"}

// CheckLocal returns nil if a request is from this machine, to its own name and without a proxy, or the reason why
// it may not be. A web page may let its own name resolve to this machine (DNS rebinding), and a reverse proxy on
// this machine makes every client's connection a local one. nginx before 1.29.7 sends HTTP/1.0 by default, and no
// header that shows it.
func CheckLocal(r *http.Request) error {
	switch {
	case IsForwarded(r):
		return errors.New("a proxy forwarded it")
	case len(r.Header["Via"]) > 0:
		return errors.New("a proxy forwarded it, as its header Via shows")
	case !r.ProtoAtLeast(1, 1):
		return errors.New("its protocol is HTTP/1.0, the default of nginx as a proxy")
	case !peerOf(r.RemoteAddr).IsLoopback():
		return fmt.Errorf("it came from %s", r.RemoteAddr)
	case !isLoopbackHost(r.Host):
		return fmt.Errorf("it is for the host %q", r.Host)
	}
	return nil
}

func isLoopbackHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback()
}

package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// A nameserver is a DNS server for tests. find returns a name's addresses, or its single alias; none means
// "no such name".
type nameserver struct {
	find    func(name string) []string
	ttl     uint32
	queries atomic.Int32
}

// resolver starts the server and returns a resolver that queries it.
func (s *nameserver) resolver(t testing.TB) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	t.Cleanup(func() { conn.Close(); served.Wait() })
	served.Go(func() {
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) == nil {
				s.queries.Add(1)
				answer, _ := s.answer(m).Pack()
				conn.WriteTo(answer, from)
			}
		}
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (s *nameserver) answer(m dnsmessage.Message) *dnsmessage.Message {
	q := m.Questions[0]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}
	m.Additionals = nil
	root := dnsmessage.MustNewName(".")
	head := func(name dnsmessage.Name, kind dnsmessage.Type) dnsmessage.ResourceHeader {
		return dnsmessage.ResourceHeader{Name: name, Type: kind, Class: dnsmessage.ClassINET, TTL: s.ttl}
	}
	add := func(name dnsmessage.Name, kind dnsmessage.Type, body dnsmessage.ResourceBody) {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: head(name, kind), Body: body})
	}
	name := q.Name
	for range 10 {
		found := s.find(strings.ToLower(strings.TrimSuffix(name.String(), ".")))
		if len(found) == 0 {
			m.RCode = dnsmessage.RCodeNameError
		}
		next := ""
		for _, f := range found {
			addr, err := netip.ParseAddr(f)
			switch {
			case f == "servfail":
				m.RCode = dnsmessage.RCodeServerFailure
			case err != nil:
				next = f + "."
				add(name, dnsmessage.TypeCNAME, &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(next)})
			case addr.Is4() && q.Type == dnsmessage.TypeA:
				add(name, q.Type, &dnsmessage.AResource{A: addr.As4()})
			case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
				add(name, q.Type, &dnsmessage.AAAAResource{AAAA: addr.As16()})
			}
		}
		if next == "" {
			break
		}
		name = dnsmessage.MustNewName(next)
	}
	m.Authorities = []dnsmessage.Resource{{Header: head(root, dnsmessage.TypeSOA), Body: &dnsmessage.SOAResource{NS: root, MBox: root, MinTTL: s.ttl}}}
	return &m
}

// zone returns a nameserver with fixed names.
func zone(names map[string][]string) *nameserver {
	return &nameserver{ttl: 60, find: func(name string) []string { return names[name] }}
}

// named returns a client of loopback that resolves names by the server.
func named(t testing.TB, s *nameserver, change ...func(*Options)) *Client {
	t.Helper()
	c := newClient(options(change...), s.resolver(t))
	t.Cleanup(c.Close)
	return c
}

// at returns the URL with another host and the same port.
func at(url, host string) string {
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	return "http://" + net.JoinHostPort(host, port)
}

func TestGuard_BlocksNamesOfPrivateAddresses(t *testing.T) {
	t.Parallel()
	x := newTrap(t, ":0")
	c := named(t, zone(map[string][]string{
		"v4.test": {"127.0.0.1"}, "v6.test": {"::1"}, "both.test": {"127.0.0.2", "::1"}, "lan.test": {"10.1.2.3", "192.168.0.1"},
		"mapped.test": {"::ffff:127.0.0.1"}, "metadata.test": {"169.254.169.254", "fd00:ec2::254"},
		"chain.test": {"a.chain.test"}, "a.chain.test": {"b.chain.test"}, "b.chain.test": {"v4.test"},
	}), func(o *Options) { o.Allow = nil })
	for _, name := range []string{"v4.test", "v6.test", "both.test", "lan.test", "mapped.test", "metadata.test", "chain.test", "CHAIN.test."} {
		if e := fails(t, c, Request{URL: "http://" + name + x.port()}, ClassBlocked); !errors.Is(e, ErrBlocked) {
			t.Errorf("%s: got %v, want ErrBlocked", name, e)
		}
	}
	if got := x.connections.Load(); got != 0 {
		t.Errorf("%d connections, want none", got)
	}
}

// Of a name's addresses only the allowed ones are dialed, in any order; this also covers the fallback to
// further addresses.
func TestGuard_DialsOnlyAllowedAddressesOfAName(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "open") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	traps := []*trap{newTrap(t, "[::1]:"+port), newTrap(t, "127.0.0.2:"+port)}
	for _, addrs := range [][]string{{"127.0.0.1", "::1"}, {"::1", "127.0.0.1"}, {"127.0.0.2", "127.0.0.1"}, {"127.0.0.1", "127.0.0.2"}, {"10.0.0.1", "::1", "127.0.0.1"}} {
		c := named(t, zone(map[string][]string{"mixed.test": addrs}))
		if got := text(t, get(t, c, Request{URL: at(url, "mixed.test")})); got != "open" {
			t.Errorf("%v: got %q, want what the allowed address serves", addrs, got)
		}
	}
	for _, x := range traps {
		if got := x.connections.Load(); got != 0 {
			t.Errorf("%d connections came to %s, want none", got, x.Addr())
		}
	}
}

// The name resolves to an allowed address until the check, then to another. The guard checks the dialed
// address, with a cached answer or without.
func TestGuard_BlocksReboundName(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "open") })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	x := newTrap(t, "127.0.0.2:"+port)
	var rebound atomic.Bool
	c := named(t, &nameserver{find: func(string) []string {
		if rebound.Load() {
			return []string{"127.0.0.2"}
		}
		return []string{"127.0.0.1"}
	}})
	get(t, c, Request{URL: at(url, "rebound.test")})
	rebound.Store(true)
	c.Close()
	fails(t, c, Request{URL: at(url, "rebound.test")}, ClassBlocked)
	if got := x.connections.Load(); got != 0 {
		t.Errorf("%d connections, want none", got)
	}
}

func TestResolver_CachesAnswersForTheirTTL(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		ttl  uint32
		name string
		want int32 // queries, A and AAAA each, for three fetches
	}{{60, "here.test", 2}, {0, "here.test", 6}, {60, "nowhere.test", 6}, {60, "ill.test", 0}} {
		s := zone(map[string][]string{"here.test": {"127.0.0.1"}, "ill.test": {"servfail"}})
		s.ttl = x.ttl
		c := named(t, s)
		url := serve(t, func(http.ResponseWriter, *http.Request) {})
		for range 3 {
			c.Fetch(t.Context(), Request{URL: at(url, x.name)}, time.Now())
			c.Close() // so that the next fetch dials
		}
		if got := s.queries.Load(); got != x.want && x.want > 0 || x.want == 0 && got < 6 {
			t.Errorf("%s, TTL %d: got %d queries, want %d (0 means no caching)", x.name, x.ttl, got, x.want)
		}
	}
}

func TestClassify_SeparatesUnknownNameFromResolverFailure(t *testing.T) {
	t.Parallel()
	c := named(t, zone(map[string][]string{"ill.test": {"servfail"}}))
	for name, want := range map[string]Class{"nowhere.test": ClassDNS, "ill.test": ClassResolver} {
		if e := fails(t, c, Request{URL: "http://" + name}, want); !strings.Contains(e.Error(), name) {
			t.Errorf("got %q, want it to name %s", e, name)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	s := zone(map[string][]string{"here.test": {"127.0.0.1"}})
	plain := s.resolver(b)
	for name, r := range map[string]*net.Resolver{"without a cache": plain, "with a cache": cachingResolver(plain)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.LookupNetIP(b.Context(), "ip", "here.test"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

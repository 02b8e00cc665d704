package access_test

import (
	"errors"
	"net/http/httptest"
	"net/netip"
	"testing"

	"feedmesh/agent/access"
)

func TestProxies_ClientIsTheLastUntrustedAddress(t *testing.T) {
	proxies := access.Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, c := range []struct{ peer, header, value, want string }{
		{"10.0.0.1:9", "X-Forwarded-For", "192.0.2.1", "192.0.2.1:0"},
		{"10.0.0.1:9", "X-Forwarded-For", "198.51.100.1, 192.0.2.1", "192.0.2.1:0"},
		{"10.0.0.1:9", "X-Forwarded-For", "198.51.100.1, 192.0.2.1,10.0.0.2 , 10.0.0.3", "192.0.2.1:0"},
		{"10.0.0.1:9", "X-Forwarded-For", "10.0.0.3, 10.0.0.2", "10.0.0.3:0"},
		{"10.0.0.1:9", "X-Forwarded-For", "198.51.100.1, unknown", "10.0.0.1:0"},
		{"10.0.0.1:9", "X-Forwarded-For", "198.51.100.1, unknown, 10.0.0.2", "10.0.0.2:0"},
		{"10.0.0.1:9", "X-Forwarded-For", "", "10.0.0.1:0"},
		{"10.0.0.1:9", "X-Forwarded-For", "192.0.2.1:1234", "192.0.2.1:0"},
		{"[::1]:9", "X-Forwarded-For", "[2001:db8::1]:77", "[2001:db8::1]:0"},
		{"[::ffff:10.0.0.1]:9", "X-Forwarded-For", "2001:db8::1", "[2001:db8::1]:0"},
		{"10.0.0.1:9", "Forwarded", `for=198.51.100.1, For="[2001:db8::1]:77";proto=https;by=10.0.0.1`, "[2001:db8::1]:0"},
		{"10.0.0.1:9", "Forwarded", "for=198.51.100.1, proto=https", "10.0.0.1:0"},
		{"10.0.0.1:9", "X-Real-Ip", "192.0.2.1", "10.0.0.1:0"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header.Add(c.header, c.value)
		got, err := proxies.Resolve(r)
		if err != nil || got.RemoteAddr != c.want || !access.IsForwarded(got) || access.CheckLocal(got) == nil {
			t.Errorf("%+v: got %s, %v; want a forwarded request", c, got.RemoteAddr, err)
		}
	}
}

func TestProxies_OthersMayNotForward(t *testing.T) {
	for _, proxies := range []access.Proxies{nil, {netip.MustParsePrefix("10.0.0.0/8")}} {
		for header, want := range map[string]error{"X-Forwarded-For": access.ErrUntrustedProxy, "X-Forwarded-Anything": access.ErrUntrustedProxy, "Forwarded": access.ErrUntrustedProxy, "X-Real-IP": access.ErrUntrustedProxy, "Accept": nil, "Via": nil} {
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = "127.0.0.1:9"
			r.Header.Set(header, "10.0.0.1")
			if got, err := proxies.Resolve(r); !errors.Is(err, want) || got.RemoteAddr != r.RemoteAddr || access.IsForwarded(got) {
				t.Errorf("%s: got %v, want %v", header, err, want)
			}
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "192.0.2.1:9"
	r.Host = "localhost"
	if access.CheckLocal(r) == nil {
		t.Error("a request from another machine is local")
	}
}

package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// public are addresses that may serve feeds.
var public = []string{
	"1.1.1.1:80", "93.184.216.34:443", "8.8.8.8:8080", "172.15.255.255:80", "172.32.0.1:80", "100.63.255.255:80",
	"100.128.0.1:80", "192.0.1.1:80", "198.17.255.255:80", "198.20.0.1:80", "223.255.255.255:80", "168.63.129.15:80",
	"[2606:4700:4700::1111]:443", "[2a00:1450:4001:80b::200e]:80", "[2001:4860:4860::8888]:80", "[2003::1]:80",
}

// special are addresses that never serve feeds, but may have other listeners.
var special = []string{
	"127.0.0.1", "127.0.0.2", "127.255.255.255", "0.0.0.0", "0.1.2.3", "0.255.255.255",
	"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
	"100.64.0.1", "100.127.255.255", "169.254.0.1", "169.254.169.254", "168.63.129.16",
	"192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
	"224.0.0.1", "239.255.255.255", "240.0.0.1", "254.1.2.3", "255.255.255.255",

	"::", "::1", "::2", "::127.0.0.1", "::10.0.0.1", "::8.8.8.8", // v4-compatible
	"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", // v4-mapped, -translated
	"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::808:808", "64:ff9b:1::1", "64:ff9b:1:7f00:0:100::", // NAT64
	"2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1", // 6to4
	"2001::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", // Teredo
	"2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1",
	"fec0::1", "feff::1", "fc00::1", "fd00::1", "fd00:ec2::254", "fdff:ffff::1",
	"fe80::1", "fe80::1%lo", "fe80::1%eth0", "febf::1", "ff02::1", "ff0e::1",
	"100::1", "5f00::1", "4000::1", "::ffff:0:0",
}

func network(addr netip.Addr) string {
	if addr.Is4() {
		return "tcp4"
	}
	return "tcp6"
}

func TestGuard_BlocksSpecialAddresses(t *testing.T) {
	t.Parallel()
	g := newGuard(Options{})
	for _, s := range special {
		a := netip.MustParseAddr(s)
		if err := g.control(network(a), netip.AddrPortFrom(a, 80).String(), nil); !errors.Is(err, ErrBlocked) {
			t.Errorf("%s: got %v, want ErrBlocked", s, err)
		}
	}
	for _, s := range public {
		if err := g.control(network(netip.MustParseAddrPort(s).Addr()), s, nil); err != nil {
			t.Errorf("%s: got %v, want it allowed", s, err)
		}
	}
	for _, s := range []string{"", "127.0.0.1", "example.org:80", "/run/docker.sock", "@abstract", "1.1.1.1:http"} {
		if err := g.control("tcp4", s, nil); !errors.Is(err, ErrBlocked) {
			t.Errorf("%q, which is no address: got %v, want ErrBlocked", s, err)
		}
	}
	for _, kind := range []string{"unix", "udp4", "ip4:icmp"} {
		if err := g.control(kind, "1.1.1.1:80", nil); !errors.Is(err, ErrBlocked) {
			t.Errorf("network %s: got %v, want ErrBlocked", kind, err)
		}
	}
}

func TestGuard_BlocksPortsOfOtherProtocols(t *testing.T) {
	t.Parallel()
	g := newGuard(Options{})
	for _, port := range []uint16{22, 25, 6379, 4222, 5432, 7700, 23, 110, 3306, 9200, 11211, 27017} {
		for _, host := range []string{"1.1.1.1", "2606:4700:4700::1111"} {
			a := netip.MustParseAddr(host)
			err := g.control(network(a), netip.AddrPortFrom(a, port).String(), nil)
			if !errors.Is(err, ErrBlocked) || !strings.Contains(err.Error(), "is not allowed") {
				t.Errorf("port %d of %s: got %v, want ErrBlocked for its port", port, host, err)
			}
		}
	}
	for _, port := range []uint16{80, 443, 81, 3000, 8000, 8080, 8443, 65535} {
		a := netip.AddrPortFrom(netip.MustParseAddr("1.1.1.1"), port)
		if err := g.control("tcp4", a.String(), nil); err != nil {
			t.Errorf("port %d: got %v, want it allowed", port, err)
		}
	}
}

func TestGuard_AllowsOnlyTheConfiguredNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allow     string
		in, notIn []string
	}{
		{"192.168.1.0/24", []string{"192.168.1.0", "192.168.1.255", "::ffff:192.168.1.7"}, []string{"192.168.0.255", "192.168.2.0", "10.0.0.1", "::192.168.1.7", "64:ff9b::c0a8:107"}},
		{"127.0.0.1/32", []string{"127.0.0.1"}, []string{"127.0.0.2", "::1", "0.0.0.0", "::127.0.0.1"}},
		{"fd00:1::/32", []string{"fd00:1::", "fd00:1:ffff::1"}, []string{"fd00:2::1", "fc00:1::", "::1"}},
		{"fe80::/10", []string{"fe80::1", "fe80::1%eth0"}, []string{"fec0::1"}},
		{"::1/128", []string{"::1"}, []string{"::", "::2", "127.0.0.1"}},
	} {
		g := newGuard(Options{Allow: []netip.Prefix{netip.MustParsePrefix(c.allow)}})
		for _, s := range c.in {
			a := netip.MustParseAddr(s)
			if err := g.control(network(a), netip.AddrPortFrom(a, 8080).String(), nil); err != nil {
				t.Errorf("%s allowed: %s: got %v, want it open", c.allow, s, err)
			}
		}
		for _, s := range c.notIn {
			a := netip.MustParseAddr(s)
			if err := g.control(network(a), netip.AddrPortFrom(a, 8080).String(), nil); !errors.Is(err, ErrBlocked) {
				t.Errorf("%s allowed: %s: got %v, want ErrBlocked", c.allow, s, err)
			}
		}
	}
}

// A network is allowed for feeds: its databases and mail servers are not.
func TestGuard_AllowedNetworkKeepsPortsBlocked(t *testing.T) {
	t.Parallel()
	g := newGuard(Options{
		Allow:      []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24"), netip.MustParsePrefix("fd00::/8")},
		AllowPorts: []netip.AddrPort{netip.MustParseAddrPort("192.168.1.5:5432"), netip.MustParseAddrPort("10.0.0.1:8080")},
	})
	for _, port := range blockedPorts {
		for _, host := range []string{"192.168.1.6", "::ffff:192.168.1.6", "fd00::1"} {
			a := netip.AddrPortFrom(netip.MustParseAddr(host), port)
			err := g.control(network(a.Addr()), a.String(), nil)
			if !errors.Is(err, ErrBlocked) || !strings.Contains(err.Error(), fmt.Sprintf("--allow-net %s", netip.AddrPortFrom(a.Addr().Unmap(), port))) {
				t.Errorf("%s: got %v, want it blocked, with the setting that allows it", a, err)
			}
		}
	}
	for addr, want := range map[string]bool{
		"192.168.1.5:5432": true, "[::ffff:192.168.1.5]:5432": true, "192.168.1.5:6379": false, "192.168.1.5:80": true, "192.168.1.6:8080": true,
		"10.0.0.1:8080": true, "10.0.0.1:80": false, "10.0.0.2:8080": false,
	} {
		if err := g.check(netip.MustParseAddrPort(addr)); (err == nil) != want {
			t.Errorf("%s: got %v, want allowed: %v", addr, err, want)
		}
	}
}

func TestGuard_ErrorNamesTheSettingThatAllowsIt(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"10.1.2.3:80": "--allow-net 10.1.2.3/32", "[::ffff:10.1.2.3]:80": "--allow-net 10.1.2.3/32", "[fe80::1%eth0]:80": "--allow-net fe80::1/128",
	} {
		if err := newGuard(Options{}).control("tcp6", addr, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want it to contain %q", addr, err, want)
		}
	}
}

func TestGuard_OwnListenerMatchesAddressAndPort(t *testing.T) {
	t.Parallel()
	g := newGuard(Options{Allow: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}, Deny: []netip.AddrPort{netip.MustParseAddrPort("93.184.216.34:443"), netip.MustParseAddrPort("[::]:8080")}})
	for addr, want := range map[string]bool{
		"93.184.216.34:443": true, "[::ffff:93.184.216.34]:443": true, "0.0.0.0:443": true, "127.0.0.1:8080": true,
		"93.184.216.34:80": false, "93.184.216.35:443": false, "1.1.1.1:8080": false,
	} {
		if err := g.check(netip.MustParseAddrPort(addr)); (err != nil) != want {
			t.Errorf("%s: got %v, want blocked: %v", addr, err, want)
		}
	}
}

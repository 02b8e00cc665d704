package fetch

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// public are addresses that feeds are served at.
var public = []string{
	"1.1.1.1:80", "93.184.216.34:443", "8.8.8.8:8080", "172.15.255.255:80", "172.32.0.1:80", "100.63.255.255:80",
	"100.128.0.1:80", "192.0.1.1:80", "198.17.255.255:80", "198.20.0.1:80", "223.255.255.255:80", "168.63.129.15:80",
	"[2606:4700:4700::1111]:443", "[2a00:1450:4001:80b::200e]:80", "[2001:4860:4860::8888]:80", "[2003::1]:80",
}

// special are addresses where no feed is served, and much else may listen.
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

func TestGuardBlocksWhatIsNotPublic(t *testing.T) {
	t.Parallel()
	g := newGuard(nil)
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

func TestGuardBlocksPortsThatAreNotForTheWeb(t *testing.T) {
	t.Parallel()
	g := newGuard(nil)
	for _, port := range []uint16{22, 25, 6379, 4222, 5432, 7700, 23, 110, 3306, 9200, 11211, 27017} {
		for _, host := range []string{"1.1.1.1", "2606:4700:4700::1111"} {
			a := netip.MustParseAddr(host)
			err := g.control(network(a), netip.AddrPortFrom(a, port).String(), nil)
			if !errors.Is(err, ErrBlocked) || !strings.Contains(err.Error(), "is not one for the web") {
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

func TestAllowedNetworkOpensItselfOnly(t *testing.T) {
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
		g := newGuard([]netip.Prefix{netip.MustParsePrefix(c.allow)})
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

func TestBlockedSaysWhatWouldAllowIt(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"10.1.2.3:80": "--allow-net 10.1.2.3/32 ", "[::ffff:10.1.2.3]:80": "--allow-net 10.1.2.3/32 ", "[fe80::1%eth0]:80": "--allow-net fe80::1/128 ",
	} {
		if err := newGuard(nil).control("tcp6", addr, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want it to say %q", addr, err, want)
		}
	}
}

// A trap listens on this machine and counts who comes.
type trap struct {
	net.Listener
	came atomic.Int32
}

func newTrap(t *testing.T, addr string) *trap {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skipf("can't listen on %s: %v", addr, err)
	}
	x := &trap{Listener: l}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			x.came.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close() })
	return x
}

// port returns the trap's port, with a colon.
func (x *trap) port() string {
	_, port, _ := net.SplitHostPort(x.Addr().String())
	return ":" + port
}

// Some of the names are none that this machine's resolver knows, so that the
// fetch ends there; whatever it says, nobody may come to the trap.
func TestNoSpellingOfThisMachineIsFetched(t *testing.T) {
	t.Parallel()
	x := newTrap(t, ":0") // all addresses of this machine
	nobody := func(o *Options) { o.Allow, o.Timeout = nil, 3*time.Second }
	for _, host := range []string{
		"127.0.0.1", "[::1]", "[::]", "0", "0.0.0.0", "127.1", "127.0.1", "2130706433", "0177.0.0.1", "017700000001",
		"0x7f.0.0.1", "0x7f000001", "127.0.0.1.", "１２７.０.０.１", "①②⑦.0.0.1", "127。0。0。1", "127.0.0.1%2f",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[0:0:0:0:0:0:0:1]", "[::1%25lo]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
		"localhost", "LOCALHOST", "localhost.", "ｌｏｃａｌｈｏｓｔ", "1.1.1.1@127.0.0.1", "user:1.1.1.1@localhost",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			e := fails(t, client(t, nobody), Request{URL: "http://" + host + x.port() + "/"},
				ClassBlocked, ClassDNS, ClassAddress, ClassTimeout, ClassConnect)
			if e.Class == ClassConnect && !strings.Contains(e.Error(), "unreachable") {
				t.Errorf("it dialled: %v", e)
			}
		})
	}
	for _, url := range []string{
		"http://a@127.0.0.1" + x.port() + "@b/", "http://1.1.1.1#@127.0.0.1" + x.port() + "/x y", "http:127.0.0.1" + x.port(), "//127.0.0.1" + x.port(),
		"http:///127.0.0.1" + x.port(), `http:\\127.0.0.1` + x.port(), "http://127.0.0.1 " + x.port(), "http://127.0.0.1\t" + x.port(),
		"file:///etc/passwd", "gopher://127.0.0.1" + x.port() + "/_x", "ftp://127.0.0.1" + x.port(), "unix:///run/docker.sock", "", "http://", "http://:80", "%", "feed",
	} {
		if _, err := client(t, nobody, within(300*time.Millisecond)).Fetch(t.Context(), Request{URL: url}, time.Now()); err == nil {
			t.Errorf("%q was fetched", url)
		}
	}
	t.Cleanup(func() {
		if got := x.came.Load(); got != 0 {
			t.Errorf("%d connections came to this machine, want none", got)
		}
	})
}

// The name is a good one; what it resolves to is not.
func TestNameThatResolvesToThisMachineIsBlocked(t *testing.T) {
	t.Parallel()
	x := newTrap(t, "127.0.0.1:0")
	e := fails(t, client(t, func(o *Options) { o.Allow = nil }), Request{URL: "http://localhost" + x.port()}, ClassBlocked)
	if !errors.Is(e, ErrBlocked) {
		t.Errorf("got %v, want ErrBlocked", e)
	}
	if got := x.came.Load(); got != 0 {
		t.Errorf("%d connections came, want none", got)
	}
}

func TestRedirectToBlockedAddressIsBlocked(t *testing.T) {
	t.Parallel()
	x := newTrap(t, "[::1]:0") // this machine under an address that is not allowed
	for _, to := range []string{"http://[::1]" + x.port(), "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "//192.168.0.1/", "http://[fd00:ec2::254]/"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) })
			e := fails(t, client(t), Request{URL: url}, ClassBlocked)
			if !errors.Is(e, ErrBlocked) {
				t.Errorf("to %s: got %v, want ErrBlocked", to, e)
			}
		}
	}
	if got := x.came.Load(); got != 0 {
		t.Errorf("%d connections came, want none", got)
	}
}

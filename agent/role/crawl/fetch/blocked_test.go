package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A trap listens on this machine and counts connections.
type trap struct {
	net.Listener
	connections atomic.Int32
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
			x.connections.Add(1)
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

// Some of the names do not resolve here, so that the fetch ends there. In any case no connection may reach
// the trap.
func TestGuard_BlocksEverySpellingOfThisMachine(t *testing.T) {
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
				t.Errorf("it dialed: %v", e)
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
		if got := x.connections.Load(); got != 0 {
			t.Errorf("%d connections to this machine, want none", got)
		}
	})
}

// The name is valid, but resolves to a blocked address.
func TestGuard_BlocksNameThatResolvesToThisMachine(t *testing.T) {
	t.Parallel()
	x := newTrap(t, "127.0.0.1:0")
	e := fails(t, client(t, func(o *Options) { o.Allow = nil }), Request{URL: "http://localhost" + x.port()}, ClassBlocked)
	if !errors.Is(e, ErrBlocked) {
		t.Errorf("got %v, want ErrBlocked", e)
	}
	if got := x.connections.Load(); got != 0 {
		t.Errorf("%d connections, want none", got)
	}
}

func TestRedirect_ToBlockedAddressIsBlocked(t *testing.T) {
	t.Parallel()
	x := newTrap(t, "[::1]:0") // this machine, at an address that is not allowed
	to := []string{"http://[::1]" + x.port(), "http://169.254.169.254/latest/meta-data", "//192.168.0.1/", "http://1.1.1.1:22/", "http://1.1.1.1:6379/"}
	for _, s := range special {
		if s != "127.0.0.1" && s != "::ffff:127.0.0.1" { // allowed in this test
			to = append(to, (&url.URL{Scheme: "https", Host: net.JoinHostPort(s, "443")}).String())
		}
	}
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		http.Redirect(w, r, to[i], []int{301, 302, 303, 307, 308}[i%5])
	})
	for i := range to {
		if e := fails(t, client(t), Request{URL: fmt.Sprintf("%s/%d", here, i)}, ClassBlocked); !errors.Is(e, ErrBlocked) {
			t.Errorf("to %s: got %v, want ErrBlocked", to[i], e)
		}
	}
	if got := x.connections.Load(); got != 0 {
		t.Errorf("%d connections, want none", got)
	}
}

func TestGuard_BlocksOwnListeners(t *testing.T) {
	t.Parallel()
	x := newTrap(t, ":0")
	own := netip.MustParseAddrPort("0.0.0.0" + x.port())
	everything := func(o *Options) {
		o.Allow = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
		o.Deny = []netip.AddrPort{own}
	}
	hosts := []string{"127.0.0.1", "127.0.0.2", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "localhost"}
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if ip := i.(*net.IPNet).IP; ip.To4() != nil {
			hosts = append(hosts, ip.String())
		}
	}
	for _, host := range hosts {
		e := fails(t, client(t, everything), Request{URL: "http://" + host + x.port()}, ClassBlocked)
		if !strings.Contains(e.Error(), "this program listens") {
			t.Errorf("%s: got %q, want it to name our listener", host, e)
		}
	}
	if got := x.connections.Load(); got != 0 {
		t.Errorf("%d connections, want none", got)
	}
}

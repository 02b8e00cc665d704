package fetch

import (
	"net/http"
	"strings"
	"testing"
)

func TestProxyNeedsAPublicOrAnAllowedAddress(t *testing.T) {
	t.Parallel()
	p := httpProxy(t)
	x := newTrap(t, "127.0.0.2:0")
	private := "http://" + x.Addr().String()
	e := fails(t, client(t), Request{URL: "http://192.0.1.1/", Ways: []string{private}}, ClassProxy)
	if !strings.Contains(e.Error(), "127.0.0.2/32 among the networks that are allowed for proxies") || x.came.Load() > 0 {
		t.Errorf("got %v after %d connections, want it to say what would allow it", e, x.came.Load())
	}
	// A feed may not be where only proxies may.
	c := client(t, func(o *Options) { o.Allow, o.ProxyAllow = nil, loopback })
	fails(t, c, Request{URL: serve(t, func(http.ResponseWriter, *http.Request) {}), Ways: []string{p.url}}, ClassBlocked)
	fails(t, c, Request{URL: p.url}, ClassBlocked)
	if p.came.Load() != 0 {
		t.Error("the proxy was asked for this machine")
	}
	fails(t, c, Request{URL: "http://feed.invalid", Ways: []string{p.url}}, ClassServer) // that is as far as the proxy could bring us
	if p.came.Load() != 1 {
		t.Errorf("got %d requests, want 1", p.came.Load())
	}
}

func TestProxyIsNotAskedForWhatIsBlocked(t *testing.T) {
	t.Parallel()
	for _, p := range []*proxyServer{httpProxy(t), socksProxy(t)} {
		c := named(t, zone(map[string][]string{"lan.test": {"10.0.0.1"}, "mixed.test": {"93.184.216.34", "10.0.0.1"}, "chain.test": {"lan.test"}}),
			func(o *Options) { o.ProxyAllow, o.Allow = loopback, nil })
		hosts := []string{
			"0", "127.1", "2130706433", "0177.0.0.1", "0x7f000001", "0x7f.0.0.1", "127.0.0.1.", "１２７.０.０.１", "127。0。0。1", "1.2.3.4.5",
			"localhost", "LOCALHOST", "localhost.", "a.localhost", "ｌｏｃａｌｈｏｓｔ", "printer", "nas.local", "metadata.google.internal", "router.home.arpa",
			"lan.test", "LAN.test.", "mixed.test", "chain.test",
			"1.1.1.1:22", "1.1.1.1:6379", "[2606:4700:4700::1111]:5432",
		}
		for _, s := range special {
			if strings.Contains(s, ":") {
				s = "[" + strings.ReplaceAll(s, "%", "%25") + "]"
			}
			hosts = append(hosts, s)
		}
		for _, host := range hosts {
			for _, scheme := range []string{"http", "https"} {
				fails(t, c, Request{URL: scheme + "://" + host + "/", Ways: []string{p.url}}, ClassBlocked)
			}
		}
		if got := p.came.Load(); got != 0 {
			t.Errorf("the proxy was asked %d times, last for %v", got, p.to.Load())
		}
	}
}

func TestProxyIsNotAskedForARedirectToWhatIsBlocked(t *testing.T) {
	t.Parallel()
	p := httpProxy(t)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
	})
	fails(t, client(t), Request{URL: url, Ways: []string{p.url}}, ClassBlocked)
	if got := p.came.Load(); got != 1 {
		t.Errorf("the proxy was asked %d times, want once", got)
	}
}

package fetch

import (
	"net/http"
	"strings"
	"testing"
)

func TestProxyGuard_RequiresAPublicOrAllowedAddress(t *testing.T) {
	t.Parallel()
	p := httpProxy(t)
	x := newTrap(t, "127.0.0.2:0")
	private := "http://" + x.Addr().String()
	e := fails(t, client(t), Request{URL: "http://192.0.1.1/", Routes: []string{private}}, ClassProxy)
	if !strings.Contains(e.Error(), "add 127.0.0.2/32 to the networks allowed for proxies") || x.connections.Load() > 0 {
		t.Errorf("got %v after %d connections, want the setting that allows it", e, x.connections.Load())
	}
	// Feeds are not allowed in networks for proxies.
	c := client(t, func(o *Options) { o.Allow, o.ProxyAllow = nil, loopback })
	fails(t, c, Request{URL: serve(t, func(http.ResponseWriter, *http.Request) {}), Routes: []string{p.url}}, ClassBlocked)
	fails(t, c, Request{URL: p.url}, ClassBlocked)
	if p.connections.Load() != 0 {
		t.Error("the proxy received a request for this machine")
	}
	fails(t, c, Request{URL: "http://feed.invalid", Routes: []string{p.url}}, ClassServer) // that is as far as the proxy could bring us
	if p.connections.Load() != 1 {
		t.Errorf("got %d requests, want 1", p.connections.Load())
	}
}

func TestCheckProxied_BlocksPrivateTargets(t *testing.T) {
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
				fails(t, c, Request{URL: scheme + "://" + host + "/", Routes: []string{p.url}}, ClassBlocked)
			}
		}
		if got := p.connections.Load(); got != 0 {
			t.Errorf("the proxy received %d requests, last for %v", got, p.to.Load())
		}
	}
}

func TestCheckProxied_BlocksRedirects(t *testing.T) {
	t.Parallel()
	p := httpProxy(t)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
	})
	fails(t, client(t), Request{URL: url, Routes: []string{p.url}}, ClassBlocked)
	if got := p.connections.Load(); got != 1 {
		t.Errorf("the proxy received %d requests, want 1", got)
	}
}

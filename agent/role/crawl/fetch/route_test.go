package fetch

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestRoutes_NextIsTriedForErrorsItMayAvoid(t *testing.T) {
	t.Parallel()
	// The host sees the route by the remote port: only the direct route shows its own.
	for _, status := range []int{403, 407, 429, 451} {
		var received atomic.Int32
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if received.Add(1) == 1 {
				w.WriteHeader(status)
			}
		})
		p := httpProxy(t)
		if d := get(t, client(t), Request{URL: url, Routes: []string{"", p.url}}); d.Route != p.url {
			t.Errorf("%d: got route %q, want the second route", status, d.Route)
		}
	}
	for _, status := range []int{401, 404, 410, 500, 503} {
		var received atomic.Int32
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { received.Add(1); w.WriteHeader(status) })
		fails(t, client(t), Request{URL: url, Routes: []string{"", httpProxy(t).url}}, ClassLogin, ClassClient, ClassServer)
		if received.Load() != 1 {
			t.Errorf("%d: got %d requests, want 1", status, received.Load())
		}
	}
}

func TestRoutes_FailedProxyDoesNotCountAgainstTheFeed(t *testing.T) {
	t.Parallel()
	url := serve(t, func(http.ResponseWriter, *http.Request) {})
	secure := serveTLS(t, true, http.NotFound)
	hangs := raw(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	for name, proxy := range map[string]string{
		"no listener":            closedPort(t),
		"no SOCKS at all":        strings.Replace(closedPort(t), "http", "socks5", 1),
		"a wrong password":       strings.Replace(httpProxy(t).url, "s3cret", "guess", 1),
		"a wrong SOCKS password": strings.Replace(socksProxy(t).url, "s3cret", "guess", 1),
		"HTTP, not SOCKS":        strings.Replace(httpProxy(t).url, "http", "socks5", 1),
		"no TLS":                 strings.Replace(httpProxy(t).url, "http", "https", 1),
		"an unknown name":        "http://proxy.invalid:3128",
		"no address":             "proxy:3128",
		"no response, for SOCKS": strings.Replace(hangs, "http", "socks5", 1),
		"no response, for TLS":   strings.Replace(hangs, "http", "https", 1),
		"closes when greeted":    strings.Replace(raw(t, func(net.Conn) {}), "http", "socks5", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := client(t, within(2*time.Second))
			if d := get(t, c, Request{URL: url, Routes: []string{proxy, ""}}); d.Route != "" || !slices.Equal(d.FailedProxies, []string{proxy}) {
				t.Errorf("got route %q with failed proxies %q, want the direct route and the failed proxy", d.Route, d.FailedProxies)
			}
			e := fails(t, c, Request{URL: url, Routes: []string{proxy}}, ClassProxy)
			if Weight(e.Class, e.Status) != 0 || e.Route != proxy || strings.Contains(e.Error(), "s3cret") || strings.Contains(e.Error(), "guess") {
				t.Errorf("got %v by %q, want an error with weight 0 and without the password", e, e.Route)
			}
			fails(t, c, Request{URL: secure.URL, Routes: []string{proxy}}, ClassProxy)
		})
	}
}

func TestRoutes_HostErrorPrecedesProxyError(t *testing.T) {
	t.Parallel()
	status := 403
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	dead := closedPort(t)
	e := fails(t, client(t), Request{URL: url, Routes: []string{dead, "", dead}}, ClassClient)
	if e.Status != 403 || e.Route != "" || !slices.Equal(e.FailedProxies, []string{dead, dead}) {
		t.Errorf("got %v by route %q with failed proxies %q, want the host's 403 by the direct route and both proxies", e, e.Route, e.FailedProxies)
	}
	e = fails(t, client(t), Request{URL: closedPort(t), Routes: []string{"", dead}}, ClassConnect)
	if e.Route != "" {
		t.Errorf("got %v by route %q, want that of the direct route", e, e.Route)
	}
}

func TestRoutes_AtMostFourAreTried(t *testing.T) {
	t.Parallel()
	var received atomic.Int32
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { received.Add(1); w.WriteHeader(http.StatusForbidden) })
	fails(t, client(t), Request{URL: url, Routes: make([]string, 10)}, ClassClient)
	if received.Load() != 4 {
		t.Errorf("got %d requests, want 4", received.Load())
	}
}

func TestRoutes_ShareOneTimeout(t *testing.T) {
	t.Parallel()
	hangs := strings.Replace(raw(t, func(c net.Conn) { io.Copy(io.Discard, c) }), "http", "socks5", 1)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	began := time.Now()
	fails(t, client(t, within(3*time.Second)), Request{URL: url, Routes: []string{hangs, hangs, hangs, ""}}, ClassTimeout)
	if took := time.Since(began); took > 11*time.Second { // separate timeouts take 12 s
		t.Errorf("it took %v, want about 3 s", took)
	}
}

func TestError_RankPrefersErrorsOfTheHost(t *testing.T) {
	t.Parallel()
	inOrder := []*Error{{Class: ClassProxy}, {Class: ClassConnect}, {Class: ClassClient, Status: 403}}
	for i, e := range inOrder {
		if e.rank() != i {
			t.Errorf("%s: got rank %d, want %d", e.Class, e.rank(), i)
		}
	}
	if got := (&Error{Class: ClassProxy, Status: 407}).rank(); got != 0 {
		t.Errorf("a proxy's own status: got rank %d, want 0", got)
	}
}

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

func TestNextWayIsTriedOnWhatItMayMend(t *testing.T) {
	t.Parallel()
	// The host knows who comes by the proxy: only the direct way shows its port.
	for _, status := range []int{403, 407, 429, 451} {
		var asked atomic.Int32
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1) == 1 {
				w.WriteHeader(status)
			}
		})
		p := httpProxy(t)
		if d := get(t, client(t), Request{URL: url, Ways: []string{"", p.url}}); d.Way != p.url {
			t.Errorf("%d: got it by %q, want the second way", status, d.Way)
		}
	}
	for _, status := range []int{401, 404, 410, 500, 503} {
		var asked atomic.Int32
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); w.WriteHeader(status) })
		fails(t, client(t), Request{URL: url, Ways: []string{"", httpProxy(t).url}}, ClassLogin, ClassClient, ClassServer)
		if asked.Load() != 1 {
			t.Errorf("%d: got %d requests, want 1", status, asked.Load())
		}
	}
}

func TestDeadProxyDoesNotCostTheFeed(t *testing.T) {
	t.Parallel()
	url := serve(t, func(http.ResponseWriter, *http.Request) {})
	secure := serveTLS(t, true, http.NotFound)
	hangs := raw(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	for name, proxy := range map[string]string{
		"nobody listens":      closedPort(),
		"no SOCKS at all":     strings.Replace(closedPort(), "http", "socks5", 1),
		"a wrong password":    strings.Replace(httpProxy(t).url, "s3cret", "guess", 1),
		"a wrong SOCKS one":   strings.Replace(socksProxy(t).url, "s3cret", "guess", 1),
		"HTTP, not SOCKS":     strings.Replace(httpProxy(t).url, "http", "socks5", 1),
		"no TLS":              strings.Replace(httpProxy(t).url, "http", "https", 1),
		"an unknown name":     "http://proxy.invalid:3128",
		"no address":          "proxy:3128",
		"silence, for SOCKS":  strings.Replace(hangs, "http", "socks5", 1),
		"silence, for TLS":    strings.Replace(hangs, "http", "https", 1),
		"closes when greeted": strings.Replace(raw(t, func(net.Conn) {}), "http", "socks5", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := client(t, within(2*time.Second))
			if d := get(t, c, Request{URL: url, Ways: []string{proxy, ""}}); d.Way != "" || !slices.Equal(d.Dead, []string{proxy}) {
				t.Errorf("got it by %q with %q dead, want the direct way and the proxy dead", d.Way, d.Dead)
			}
			e := fails(t, c, Request{URL: url, Ways: []string{proxy}}, ClassProxy)
			if Weight(e.Class, e.Status) != 0 || e.Way != proxy || strings.Contains(e.Error(), "s3cret") || strings.Contains(e.Error(), "guess") {
				t.Errorf("got %v by %q, want an error that counts nothing and keeps the password", e, e.Way)
			}
			fails(t, c, Request{URL: secure.URL, Ways: []string{proxy}}, ClassProxy)
		})
	}
}

func TestErrorIsThatOfTheHostIfItAnswered(t *testing.T) {
	t.Parallel()
	status := 403
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	dead := closedPort()
	e := fails(t, client(t), Request{URL: url, Ways: []string{dead, "", dead}}, ClassClient)
	if e.Status != 403 || e.Way != "" || !slices.Equal(e.Dead, []string{dead, dead}) {
		t.Errorf("got %v by %q with %q dead, want the host's 403 by the direct way, with both proxies dead", e, e.Way, e.Dead)
	}
	e = fails(t, client(t), Request{URL: closedPort(), Ways: []string{"", dead}}, ClassConnect)
	if e.Way != "" {
		t.Errorf("got %v by %q, want the direct way's", e, e.Way)
	}
}

func TestAtMostFourWaysAreTried(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); w.WriteHeader(http.StatusForbidden) })
	fails(t, client(t), Request{URL: url, Ways: make([]string, 10)}, ClassClient)
	if asked.Load() != 4 {
		t.Errorf("got %d requests, want 4", asked.Load())
	}
}

func TestAllWaysShareOneTimeout(t *testing.T) {
	t.Parallel()
	hangs := strings.Replace(raw(t, func(c net.Conn) { io.Copy(io.Discard, c) }), "http", "socks5", 1)
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	began := time.Now()
	fails(t, client(t, within(time.Second)), Request{URL: url, Ways: []string{hangs, hangs, hangs, ""}}, ClassTimeout)
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %v, want about 1s", took)
	}
}

func TestErrorsThatTellMoreOfTheFeedCountMore(t *testing.T) {
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

package fetch

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// closedPort returns an address without a listener, which no server of another test gets meanwhile: that of the
// client's end of a connection.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return "http://" + conn.LocalAddr().String()
}

func TestProxy_EveryKindCarriesHTTPAndHTTPS(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(name, "Proxy-") {
				t.Errorf("the host received %s", name)
			}
		}
		io.WriteString(w, "feed")
	}
	plain, secure := serve(t, answer), serveTLS(t, true, answer)
	for kind, p := range map[string]*proxyServer{"http": httpProxy(t), "socks5": socksProxy(t)} {
		c := secured(t, secure)
		for _, u := range []string{plain, secure.URL} {
			before := p.connections.Load()
			d := get(t, c, Request{URL: u, Routes: []string{p.url}})
			if got := text(t, d); got != "feed" || d.Route != p.url || p.connections.Load() != before+1 {
				t.Errorf("%s of %s: got %q by %q, want the feed by the proxy", kind, u, got, d.Route)
			}
		}
	}
}

func TestProxy_ConnectsByTLS(t *testing.T) {
	t.Parallel()
	p := &proxyServer{}
	s := serveTLS(t, true, p.ServeHTTP) // HTTP/2 must not be negotiated
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "feed") })
	e := fails(t, client(t), Request{URL: url, Routes: []string{withUser(s.URL)}}, ClassProxy)
	if !strings.Contains(e.Error(), "certificate") || p.connections.Load() != 0 {
		t.Errorf("got %v after %d requests, want it to speak of the certificate before the first", e, p.connections.Load())
	}
	c := secured(t, s)
	if got := text(t, get(t, c, Request{URL: url, Routes: []string{withUser(s.URL)}})); got != "feed" {
		t.Errorf("got %q, want the feed", got)
	}
}

func TestProxy_UnreachableHostCountsAgainstTheHost(t *testing.T) {
	t.Parallel()
	dead := closedPort(t)
	for _, u := range []string{dead, strings.Replace(dead, "http", "https", 1)} {
		fails(t, client(t), Request{URL: u, Routes: []string{socksProxy(t).url}}, ClassConnect)
	}
	fails(t, client(t), Request{URL: strings.Replace(dead, "http", "https", 1), Routes: []string{httpProxy(t).url}}, ClassConnect)
	moved := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, dead, http.StatusFound) })
	fails(t, client(t), Request{URL: moved, Routes: []string{socksProxy(t).url}}, ClassConnect)
	strange := serveTLS(t, true, http.NotFound)
	fails(t, client(t), Request{URL: strange.URL, Routes: []string{httpProxy(t).url}}, ClassTLS)
	fails(t, client(t), Request{URL: strange.URL, Routes: []string{socksProxy(t).url}}, ClassTLS)
}

func TestCheckProxy_ErrorStatesTheReason(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"http://proxy", "http://proxy:3128", "https://me:s3cret@proxy.example:8443/", "socks5://[2001:db8::1]:1080"} {
		if err := CheckProxy(good); err != nil {
			t.Errorf("%s: got %v, want nil", good, err)
		}
	}
	for bad, want := range map[string]string{
		"":                          "must begin with http://",
		"proxy:3128":                "must begin with http://",
		"ftp://me:s3cret@proxy":     "must begin with http://",
		"http://":                   "has no host",
		"http://:3128":              "has no host",
		"http://proxy:0":            "use 1 to 65535",
		"http://proxy:65536":        "use 1 to 65535",
		"http://me:s3cret@pr oxy":   "invalid proxy URL",
		"http://me:s3cret@proxy:x":  "invalid proxy URL",
		"http://me:s3cret@proxy/x":  "must end with its port",
		"http://me:s3cret@proxy/?x": "must end with its port",
		"http://me:s3cret@proxy/#x": "must end with its port",
		"socks5://" + strings.Repeat("x", 256) + ":s3cret@proxy": "at most 255 bytes",
	} {
		if err := CheckProxy(bad); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want it to contain %q and no password", bad, err, want)
		}
	}
}

package rest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/access"
)

// loopbackProxies are proxies on this machine.
var loopbackProxies = access.Proxies{netip.MustParsePrefix("127.0.0.0/8")}

// forwarding are headers of proxies.
var forwarding = []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Server", "X-Real-IP", "Forwarded", "True-Client-IP", "CF-Connecting-IP"}

// A reverse proxy on this machine makes every request a local one. Without a token it would be open administration.
func TestExposure_ForwardedRequestIsNotLocal(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "s3cret"} {
		w := newTestbed(t, func(d *setup) { d.Token = token })
		for _, header := range forwarding {
			for _, path := range paths {
				w.request(t, "GET", path, "", header, "192.0.2.7", "Authorization", "Bearer "+token).isProblem(t, http.StatusForbidden, "--trusted-proxy")
			}
			w.request(t, "POST", "/api/tokens", `{"name":"mine","scopes":["admin"]}`, header, "192.0.2.7").isProblem(t, http.StatusForbidden, "--trusted-proxy")
		}
		if all, err := w.server.Tokens.TokenStore.Tokens(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("got tokens %v, %v; want none", all, err)
		}
	}
	open := newTestbed(t)
	open.request(t, "POST", "/api/tokens", `{"name":"mine","scopes":["admin"]}`, "Via", "1.1 proxy").isProblem(t, http.StatusForbidden, "a proxy forwarded it")
	if a := open.request(t, "GET", "/livez", "", "X-Forwarded-For", "192.0.2.7"); a.StatusCode != 200 {
		t.Errorf("/livez: got %d, want 200 always", a.StatusCode)
	}
}

// nginx's default sends HTTP/1.0 to the host of proxy_pass, without any header of its own.
func TestExposure_SilentProxyIsNotLocal(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	address := strings.TrimPrefix(w.URL, "http://")
	for request, want := range map[string]int{
		"GET /api/status HTTP/1.0\r\nHost: " + address + "\r\nConnection: close\r\n\r\n":   http.StatusForbidden, // nginx
		"GET /api/status HTTP/1.1\r\nHost: feeds.example\r\nConnection: close\r\n\r\n":     http.StatusForbidden, // Host $host
		"GET /api/status HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n":   http.StatusOK,
		"GET /api/status HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n":    http.StatusOK,
		"GET /api/status HTTP/1.1\r\nHost: localhost.example\r\nConnection: close\r\n\r\n": http.StatusForbidden,
		"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1.example\r\nConnection: close\r\n\r\n": http.StatusForbidden,
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, request)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		conn.Close()
		if err != nil || resp.StatusCode != want {
			t.Errorf("%q: got %v, %v; want %d", request, resp, err, want)
		}
	}
}

// Behind a trusted proxy a token is required also where no token is configured, and none can be made without one.
func TestExposure_TrustedProxyNeedsToken(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, func(d *setup) { d.TrustedProxies = loopbackProxies })
	for _, header := range append(forwarding, "Accept") { // the last: a proxy that adds none
		w.request(t, "GET", "/api/status", "", header, "192.0.2.7").isProblem(t, http.StatusForbidden, "a proxy forwarded it")
		w.request(t, "POST", "/api/tokens", `{"name":"mine","scopes":["admin"]}`, header, "192.0.2.7").isProblem(t, http.StatusForbidden, "a proxy forwarded it")
	}
	if a := w.request(t, "GET", "/api/status", "", "X-Forwarded-For", "192.0.2.7", "Authorization", "Bearer "+w.secret(t, access.Read)); a.StatusCode != 200 {
		t.Errorf("with a token: got %d %s, want 200", a.StatusCode, a.body)
	}
	w.request(t, "GET", "/api/status", "", "X-Forwarded-For", "192.0.2.7", "Forwarded", "for=192.0.2.8").isProblem(t, http.StatusBadRequest, "different clients")
}

// Behind a trusted proxy each client has limits of its own.
func TestExposure_LimitsCountForwardedAddresses(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner, func(d *setup) { d.TrustedProxies, d.RequestsPerClient = loopbackProxies, 1 })
	ask := func(chain, auth string) int {
		return w.request(t, "GET", "/api/items/none", "", "X-Forwarded-For", chain, "Authorization", auth).StatusCode
	}
	for i := range access.WrongTokens + 1 { // a guesser cannot choose its address: what it sends is before the last
		ask(fmt.Sprintf("198.51.100.%d, 192.0.2.1", i), "Bearer guess")
	}
	if got := ask("192.0.2.1", "Bearer guess"); got != http.StatusTooManyRequests {
		t.Errorf("the guesser: got %d, want 429", got)
	}
	if got := ask("192.0.2.1, 192.0.2.2", "Bearer guess"); got != http.StatusUnauthorized {
		t.Errorf("another client: got %d, want 401", got)
	}
}

// Pages of other sites may link to a node without a token, and no more.
func TestExposure_CrossSiteSubrequests(t *testing.T) {
	t.Parallel()
	open, guarded := newTestbed(t), newTestbed(t, withOwner)
	public := newTestbed(t, func(d *setup) { d.CORSOrigins = []string{"https://public.example"} })
	for _, site := range []string{"cross-site", "same-site"} {
		for _, c := range [][2]string{{"no-cors", "image"}, {"no-cors", "script"}, {"cors", "empty"}, {"navigate", "iframe"}, {"navigate", "object"}, {"websocket", "websocket"}} {
			for _, path := range []string{"/", "/api/search?q=kernel", "/outputs/search.rss", "/reader/api/0/user-info", "/accounts/ClientLogin"} {
				open.request(t, "GET", path, "", "Sec-Fetch-Site", site, "Sec-Fetch-Mode", c[0], "Sec-Fetch-Dest", c[1]).isProblem(t, http.StatusForbidden, "another site")
			}
		}
		if a := open.request(t, "GET", "/", "", "Sec-Fetch-Site", site, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"); a.StatusCode != 200 {
			t.Errorf("a link: got %d, want 200", a.StatusCode)
		}
	}
	open.request(t, "GET", "/api/search", "", "Origin", "https://evil.example").isProblem(t, http.StatusForbidden, "another site") // an older browser
	if a := guarded.request(t, "GET", "/api/search", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Authorization", "Bearer s3cret"); a.StatusCode != 200 {
		t.Errorf("with a token: got %d, want 200", a.StatusCode)
	}
	cors := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty", "Origin"}
	if a := public.request(t, "GET", "/api/search", "", append(slices.Clone(cors), "https://public.example")...); a.StatusCode != 200 {
		t.Errorf("an allowed origin: got %d %s, want 200", a.StatusCode, a.body)
	}
	public.request(t, "GET", "/api/search", "", append(slices.Clone(cors), "https://evil.example")...).isProblem(t, http.StatusForbidden, "another site")
	public.request(t, "GET", "/api/feeds", "", append(slices.Clone(cors), "https://public.example")...).isProblem(t, http.StatusForbidden, "another site")
}

// The token of health checks reads readiness and metrics, and nothing else.
func TestExposure_HealthToken(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner, func(d *setup) { d.HealthToken = "prometheus" })
	for _, path := range paths {
		want := http.StatusForbidden
		if path == "/metrics" || path == "/readyz" {
			want = http.StatusOK
		}
		for _, secret := range []string{"prometheus", w.secret(t, access.Metrics)} {
			if a := w.request(t, "GET", path, "", "Authorization", "Bearer "+secret); a.StatusCode != want {
				t.Errorf("%s: got %d %s, want %d", path, a.StatusCode, a.body, want)
			}
		}
	}
	only := newTestbed(t, func(d *setup) { d.HealthToken, d.TokensOnly = "prometheus", true })
	only.request(t, "GET", "/metrics", "").isProblem(t, http.StatusUnauthorized, "a token is required")
}

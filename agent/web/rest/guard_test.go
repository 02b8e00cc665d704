package rest

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// paths has a path of each kind.
var paths = []string{"/api/status", "/api/feeds", "/api/nothing", "/openapi.json", "/readyz", "/metrics", "/", "/any/page"}

func TestGuard_AcceptsToken(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, func(d *setup) { d.Token = "s3cret" })
	for _, auth := range []string{"Bearer s3cret", "bearer s3cret", basic("", "s3cret"), basic("anyone", "s3cret"), "GoogleLogin auth=s3cret"} {
		for _, host := range []string{"127.0.0.1", "feeds.example.org", "[::1]:8080"} {
			if a := w.request(t, "GET", "/api/status", "", "Authorization", auth, "Host", host); a.StatusCode != 200 {
				t.Errorf("%q at %s: got %d, want 200", auth, host, a.StatusCode)
			}
		}
	}
}

func TestGuard_RejectsOtherCredentials(t *testing.T) {
	t.Parallel()
	for _, auth := range []string{"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Bearer S3CRET", "s3cret", "Token s3cret",
		basic("s3cret", ""), basic("a", "s3cret2"), basic("a", ""), "Basic s3cret", "Basic !!!", "Basic " + base64.StdEncoding.EncodeToString([]byte("s3cret")), "GoogleLogin s3cret", "GoogleLogin auth=s3cre", "Bearer fm_s3cret"} {
		w := newTestbed(t, func(d *setup) { d.Token = "s3cret" }) // separate servers: too many wrong tokens are throttled
		for _, path := range paths {
			a := w.request(t, "GET", path, "", "Authorization", auth)
			a.isProblem(t, http.StatusUnauthorized, "a token is required")
			if a.Header.Get("WWW-Authenticate") == "" || strings.Contains(a.body, "s3cret") {
				t.Errorf("%q at %s: got %v %s, want to be asked for the token", auth, path, a.Header, a.body)
			}
		}
	}
	w := newTestbed(t, func(d *setup) { d.Token = "s3cret" })
	for _, method := range []string{"POST", "DELETE", "PUT", "HEAD", "OPTIONS"} {
		if a := w.request(t, method, "/api/feeds", ""); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: got %d, want 401", method, a.StatusCode)
		}
	}
}

// DNS rebinding: a web page may resolve its own name to this machine; the Host header then contains that name.
func TestGuard_LoopbackOnlyWithoutToken(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for _, host := range []string{"localhost", "localhost:8080", "127.0.0.1", "127.0.0.1:8080", "127.1.2.3", "[::1]", "[::1]:8080"} {
		for _, path := range []string{"/api/status", "/"} {
			if a := w.request(t, "GET", path, "", "Host", host); a.StatusCode != 200 {
				t.Errorf("%s as %s: got %d, want 200", path, host, a.StatusCode)
			}
		}
	}
	for _, host := range []string{"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "192.168.1.2:8080", "0.0.0.0", "[::]", "localhost.", "127.0.0.1@evil.example", "1"} {
		for _, path := range paths {
			w.request(t, "GET", path, "", "Host", host).isProblem(t, http.StatusForbidden, "only from this machine")
		}
	}
}

func TestGuard_RejectsCrossSiteRequests(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for _, c := range []struct{ name, header, value string }{
		{"a browser says so", "Sec-Fetch-Site", "cross-site"}, {"of another part of the site", "Sec-Fetch-Site", "same-site"},
		{"an older browser names the origin", "Origin", "https://evil.example"}, {"one without a name", "Origin", "null"},
	} {
		for _, path := range []string{"/api/feeds", "/api/feeds/import", "/api/feeds/" + w.feed + "/refresh", "/api/reindex", "/any/page"} {
			w.request(t, "POST", path, "https://evil.example/feed", c.header, c.value, "Content-Type", "text/plain").isProblem(t, http.StatusForbidden, "another site")
		}
		w.request(t, "DELETE", "/api/feeds/"+w.feed, "", c.header, c.value).isProblem(t, http.StatusForbidden, "another site")
	}
	if _, err := w.Store.Feed(t.Context(), w.feed); err != nil || len(w.Mesh.Published) != 0 {
		t.Errorf("something was done: %v, %v", err, w.Mesh.Published)
	}
	if a := w.request(t, "POST", "/api/reindex", "", "Origin", w.URL, "Sec-Fetch-Site", "same-origin"); a.StatusCode != http.StatusAccepted {
		t.Errorf("of our own page: got %d, want 202", a.StatusCode)
	}
	if a := w.request(t, "GET", "/", "", "Sec-Fetch-Site", "cross-site"); a.StatusCode != http.StatusOK {
		t.Errorf("a link to a page: got %d, want 200", a.StatusCode)
	}
}

func TestGuard_LivenessIsPublic(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "s3cret"} {
		w := newTestbed(t, func(d *setup) { d.Token = token })
		if a := w.request(t, "GET", "/livez", "", "Host", "any.example"); a.StatusCode != 200 || a.body != "ok\n" {
			t.Errorf("got %d %q, want 200 ok", a.StatusCode, a.body)
		}
		for _, path := range []string{"/livez/", "//livez", "/livez/../api/status", "/livez%2f..%2fapi/status", "/x/../livez"} {
			if a := w.request(t, "GET", path, "", "Host", "any.example"); a.StatusCode/100 != 4 {
				t.Errorf("%s: got %d, want it rejected", path, a.StatusCode)
			}
		}
	}
}

func TestGuard_SecurityHeaders(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "s3cret"} {
		w := newTestbed(t, func(d *setup) { d.Token = token })
		var all []answer
		for _, path := range append(paths, "/livez", "/api/items/none", "/api/search?cursor=x", "/api/feeds?limit=x", "/api/feeds/export") {
			all = append(all, w.request(t, "GET", path, ""), w.request(t, "GET", path, "", "Host", "evil.example"), w.request(t, "PUT", path, ""),
				w.request(t, "POST", path, "x", "Origin", "https://evil.example"))
		}
		for _, a := range all {
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Strict-Transport-Security": "",
				"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
			} {
				if got := a.Header.Get(name); got != want {
					t.Errorf("%s %s: %s: got %q, want %q", a.Request.Method, a.Request.URL, name, got, want)
				}
			}
			if got := a.Header.Get("Access-Control-Allow-Origin"); got != "" {
				t.Errorf("%s: it lets %s read", a.Request.URL, got)
			}
		}
	}
}

// Browsers wait for a login where the challenge is Basic, and a service worker with them.
func TestGuard_ScriptsGetNoLogin(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, func(d *setup) { d.Token = "s3cret" })
	for header, scheme := range map[string]string{"Accept": "Basic", "Feedmesh-Part": "Bearer", "Service-Worker-Navigation-Preload": "Bearer"} {
		for _, token := range []string{"", "Bearer wrong"} {
			a := w.request(t, "GET", "/read", "", header, "true", "Authorization", token)
			if got, _, _ := strings.Cut(a.Header.Get("WWW-Authenticate"), " "); a.StatusCode != 401 || got != scheme {
				t.Errorf("%s, token %q: got status %d, scheme %q, want 401 and %s", header, token, a.StatusCode, got, scheme)
			}
		}
	}
}

package api

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// paths are one of each kind of thing that is served.
var paths = []string{"/api/status", "/api/feeds", "/api/nothing", "/openapi.json", "/readyz", "/metrics", "/", "/any/page"}

func TestTokenLetsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(d *Deps) { d.Token = "s3cret" })
	for _, auth := range []string{"Bearer s3cret", "bearer s3cret", basic("", "s3cret"), basic("anyone", "s3cret"), "GoogleLogin auth=s3cret"} {
		for _, host := range []string{"127.0.0.1", "feeds.example.org", "[::1]:8080"} {
			if a := w.ask(t, "GET", "/api/status", "", "Authorization", auth, "Host", host); a.StatusCode != 200 {
				t.Errorf("%q at %s: got %d, want 200", auth, host, a.StatusCode)
			}
		}
	}
}

func TestNothingElseLetsIn(t *testing.T) {
	t.Parallel()
	for _, auth := range []string{"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Bearer S3CRET", "s3cret", "Token s3cret",
		basic("s3cret", ""), basic("a", "s3cret2"), basic("a", ""), "Basic s3cret", "Basic !!!", "Basic " + base64.StdEncoding.EncodeToString([]byte("s3cret")), "GoogleLogin s3cret", "GoogleLogin auth=s3cre", "Bearer fm_s3cret"} {
		w := newWorld(t, func(d *Deps) { d.Token = "s3cret" }) // of its own: too many wrong tokens are another answer
		for _, path := range paths {
			a := w.ask(t, "GET", path, "", "Authorization", auth)
			a.isProblem(t, http.StatusUnauthorized, "show the token")
			if a.Header.Get("WWW-Authenticate") == "" || strings.Contains(a.body, "s3cret") {
				t.Errorf("%q at %s: got %v %s, want to be asked for the token", auth, path, a.Header, a.body)
			}
		}
	}
	w := newWorld(t, func(d *Deps) { d.Token = "s3cret" })
	for _, method := range []string{"POST", "DELETE", "PUT", "HEAD", "OPTIONS"} {
		if a := w.ask(t, method, "/api/feeds", ""); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: got %d, want 401", method, a.StatusCode)
		}
	}
}

// A web page may have its own name point to this machine: the browser then says
// that name.
func TestWithoutTokenOnlyThisMachineIsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, host := range []string{"localhost", "localhost:8080", "127.0.0.1", "127.0.0.1:8080", "127.1.2.3", "[::1]", "[::1]:8080"} {
		for _, path := range []string{"/api/status", "/"} {
			if a := w.ask(t, "GET", path, "", "Host", host); a.StatusCode != 200 {
				t.Errorf("%s as %s: got %d, want 200", path, host, a.StatusCode)
			}
		}
	}
	for _, host := range []string{"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "192.168.1.2:8080", "0.0.0.0", "[::]", "localhost.", "127.0.0.1@evil.example", "1"} {
		for _, path := range paths {
			w.ask(t, "GET", path, "", "Host", host).isProblem(t, http.StatusForbidden, "only this machine is served")
		}
	}
}

func TestRequestOfAnotherSitesPageIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ name, header, value string }{
		{"a browser says so", "Sec-Fetch-Site", "cross-site"}, {"of another part of the site", "Sec-Fetch-Site", "same-site"},
		{"an older browser names the origin", "Origin", "https://evil.example"}, {"one without a name", "Origin", "null"},
	} {
		for _, path := range []string{"/api/feeds", "/api/feeds/import", "/api/feeds/" + w.feed + "/refresh", "/api/reindex", "/any/page"} {
			w.ask(t, "POST", path, "https://evil.example/feed", c.header, c.value, "Content-Type", "text/plain").isProblem(t, http.StatusForbidden, "another site")
		}
		w.ask(t, "DELETE", "/api/feeds/"+w.feed, "", c.header, c.value).isProblem(t, http.StatusForbidden, "another site")
	}
	if _, err := w.store.Feed(t.Context(), w.feed); err != nil || len(w.mesh.published) != 0 {
		t.Errorf("something was done: %v, %v", err, w.mesh.published)
	}
	if a := w.ask(t, "POST", "/api/reindex", "", "Origin", w.URL, "Sec-Fetch-Site", "same-origin"); a.StatusCode != http.StatusAccepted {
		t.Errorf("of our own page: got %d, want 202", a.StatusCode)
	}
	if a := w.ask(t, "GET", "/", "", "Sec-Fetch-Site", "cross-site"); a.StatusCode != http.StatusOK {
		t.Errorf("a link to a page: got %d, want 200", a.StatusCode)
	}
}

func TestLivenessIsToldToAnyone(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "s3cret"} {
		w := newWorld(t, func(d *Deps) { d.Token = token })
		if a := w.ask(t, "GET", "/livez", "", "Host", "any.example"); a.StatusCode != 200 || a.body != "ok\n" {
			t.Errorf("got %d %q, want 200 ok", a.StatusCode, a.body)
		}
		for _, path := range []string{"/livez/", "//livez", "/livez/../api/status", "/livez%2f..%2fapi/status", "/x/../livez"} {
			if a := w.ask(t, "GET", path, "", "Host", "any.example"); a.StatusCode/100 != 4 {
				t.Errorf("%s: got %d, want it refused", path, a.StatusCode)
			}
		}
	}
}

func TestEveryAnswerHasSecurityHeaders(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "s3cret"} {
		w := newWorld(t, func(d *Deps) { d.Token = token })
		var all []answer
		for _, path := range append(paths, "/livez", "/api/items/none", "/api/search?cursor=x", "/api/feeds?limit=x", "/api/feeds/export") {
			all = append(all, w.ask(t, "GET", path, ""), w.ask(t, "GET", path, "", "Host", "evil.example"), w.ask(t, "PUT", path, ""),
				w.ask(t, "POST", path, "x", "Origin", "https://evil.example"))
		}
		for _, a := range all {
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
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

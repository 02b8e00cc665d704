package rest

import (
	"net/http"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/web/widget"
)

const publicSite = "https://public.example"

func TestCORS_ConfiguredOriginsMaySearch(t *testing.T) {
	t.Parallel()
	for _, origins := range [][]string{{"*"}, {"https://another.example", publicSite}} {
		w := newTestbed(t, withOwner, func(d *setup) { d.CORSOrigins = origins })
		for _, path := range []string{"/api/search?q=kernel", "/api/items/" + w.item, "/api/stories", "/api/items/none"} {
			asked := w.request(t, "OPTIONS", path, "", "Origin", publicSite, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization")
			if asked.StatusCode != http.StatusNoContent || asked.Header.Get("Access-Control-Allow-Origin") != publicSite || !strings.Contains(asked.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
				t.Errorf("%s: may it? got %d %v, want yes, with the token", path, asked.StatusCode, asked.Header)
			}
			for _, auth := range []string{"Bearer " + w.secret(t, access.Search), ""} { // the page may read the error
				a := w.request(t, "GET", path, "", "Origin", publicSite, "Authorization", auth, "Sec-Fetch-Site", "cross-publicSite")
				if a.Header.Get("Access-Control-Allow-Origin") != publicSite || (a.StatusCode == http.StatusUnauthorized) != (auth == "") || a.StatusCode == http.StatusForbidden {
					t.Errorf("%s with %q: got %d %v, want an answer that the page may read", path, auth, a.StatusCode, a.Header)
				}
				if a.Header.Get("Access-Control-Allow-Credentials") != "" || !strings.Contains(a.Header.Get("Vary"), "Origin") {
					t.Errorf("%s: got %v, want nothing a browser sends by itself, and nothing kept for other sites", path, a.Header)
				}
			}
		}
	}
}

// The script of the widget has no data: the site loads it without a token.
func TestCORS_ConfiguredOriginsMayLoadTheWidget(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*setup){func(*setup) {}, withOwner} {
		w := newTestbed(t, change, func(d *setup) { d.CORSOrigins = []string{publicSite} })
		for origin, want := range map[string]string{publicSite: publicSite, "https://evil.example": ""} {
			a := w.request(t, "GET", widget.ScriptPath, "", "Origin", origin, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "script")
			if got := a.Header.Get("Access-Control-Allow-Origin"); got != want || want != "" && a.StatusCode != http.StatusOK {
				t.Errorf("from %s: got %d %v, want the origin %q", origin, a.StatusCode, a.Header, want)
			}
		}
	}
}

func TestCORS_OtherOriginsAreRejected(t *testing.T) {
	t.Parallel()
	reads := func(a answer) bool { return a.Header.Get("Access-Control-Allow-Origin") != "" }
	w := newTestbed(t, withOwner, func(d *setup) { d.CORSOrigins = []string{publicSite} })
	owner := "Bearer s3cret"
	for _, origin := range []string{"https://evil.example", "null", "", "http://public.example", "https://public.example:8443", "https://public.example.evil.example", "https://PUBLIC.example", publicSite + "/"} {
		for _, method := range []string{"GET", "OPTIONS"} {
			if a := w.request(t, method, "/api/search", "", "Origin", origin, "Access-Control-Request-Method", "GET", "Authorization", owner); reads(a) {
				t.Errorf("%s from %q: got %v", method, origin, a.Header)
			}
		}
	}
	for _, c := range [][2]string{
		{"GET", "/api/feeds"}, {"GET", "/api/status"}, {"GET", "/api/tokens"}, {"GET", "/"}, {"GET", "/openapi.json"}, {"GET", "/metrics"}, {"GET", "/livez"}, {"GET", "/api/nothing"},
		{"POST", "/api/feeds"}, {"POST", "/api/items/x/clicks"}, {"DELETE", "/api/items/x/spam"}, {"PUT", "/api/search"}, {"POST", "/api/search"},
	} {
		if a := w.request(t, c[0], c[1], "", "Origin", publicSite, "Authorization", owner); reads(a) {
			t.Errorf("%s %s: got %v, want no other publicSite to read it", c[0], c[1], a.Header)
		}
		if a := w.request(t, "OPTIONS", c[1], "", "Origin", publicSite, "Access-Control-Request-Method", c[0]); reads(a) || a.StatusCode == http.StatusNoContent {
			t.Errorf("may it %s %s? got %d %v, want no", c[0], c[1], a.StatusCode, a.Header)
		}
	}
	if a := newTestbed(t).request(t, "GET", "/api/search", "", "Origin", publicSite); reads(a) || a.Header.Get("Vary") != "" {
		t.Errorf("by default: got %v, want no other publicSite to read it", a.Header)
	}
}

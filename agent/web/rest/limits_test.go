package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/web/output"
)

func TestRateLimit_RetryAfter(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner, func(d *setup) { d.RequestsPerClient = 2 })
	reader, other := "Bearer "+w.secret(t, access.Read), "Bearer "+w.secret(t, access.Read)
	for i := range burst * 2 {
		a := w.request(t, "GET", "/api/items/none", "", "Authorization", reader)
		if a.StatusCode != http.StatusNotFound || a.Header.Get("RateLimit-Policy") != `"client";q=8;w=4` || !strings.HasPrefix(a.Header.Get("RateLimit"), fmt.Sprintf(`"client";r=%d;t=`, 7-i)) {
			t.Errorf("request %d: got %d %v, want 404 and %d left", i, a.StatusCode, a.Header, 7-i)
		}
	}
	a := w.request(t, "GET", "/api/items/none", "", "Authorization", reader)
	if a.isProblem(t, http.StatusTooManyRequests, "sends too many requests"); a.Header.Get("Retry-After") != "1" || a.Header.Get("RateLimit") != `"client";r=0;t=1` {
		t.Errorf("got %v, want a second to wait", a.Header)
	}
	for _, auth := range []string{other, "Bearer s3cret"} {
		if a := w.request(t, "GET", "/api/items/none", "", "Authorization", auth); a.StatusCode != http.StatusNotFound {
			t.Errorf("another client: got %d, want 404", a.StatusCode)
		}
	}
	for range burst * 2 {
		w.request(t, "GET", "/", "")
	}
	w.request(t, "GET", "/", "").isProblem(t, http.StatusTooManyRequests, "sends too many requests") // requests without a token count by address
	if a := w.request(t, "GET", "/livez", ""); a.StatusCode != 200 {
		t.Errorf("/livez: got %d, want 200 always", a.StatusCode)
	}
}

func TestRateLimit_LoopbackIsExempt(t *testing.T) {
	t.Parallel()
	local, unlimited := newTestbed(t, func(d *setup) { d.RequestsPerClient = 1 }), newTestbed(t, withOwner)
	for range 30 {
		if a := local.request(t, "GET", "/api/items/none", ""); a.StatusCode != http.StatusNotFound || a.Header.Get("RateLimit") != "" {
			t.Fatalf("on this machine: got %d %v, want 404", a.StatusCode, a.Header)
		}
		if a := unlimited.request(t, "GET", "/api/items/none", "", "Authorization", "Bearer s3cret"); a.StatusCode != http.StatusNotFound || a.Header.Get("RateLimit") != "" {
			t.Fatalf("without a limit: got %d %v, want 404", a.StatusCode, a.Header)
		}
	}
}

// A token in the address of an output is for programs that can send no header.
func TestGuard_TokenInURLRequiresSearchScope(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner)
	seen := ""
	web := w.serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.URL.String() + " " + r.RequestURI }), "GET "+output.Path)
	search, read := w.secret(t, access.Search), w.secret(t, access.Read)
	for path, want := range map[string]int{
		"/outputs/search.atom?q=kernel&token=" + search: 200, "/outputs/search.atom?token=" + search: 200,
		"/outputs/search.atom?q=kernel&token=" + read: 403, "/outputs/search.atom?token=s3cret": 403,
		"/outputs/search.atom?token=fm_wrong": 401, "/outputs/search.atom?token=": 401, "/outputs/search.atom?q=kernel": 401,
		"/api/search?token=" + search: 401, "/?token=" + search: 401, "/api/outputs/?token=" + search: 401, "/outputs/../api/search?token=" + search: 401,
	} {
		seen = ""
		r, err := http.NewRequestWithContext(t.Context(), "GET", web.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want || resp.Header.Get("Referrer-Policy") != "no-referrer" || strings.Contains(seen, "token") {
			t.Errorf("%s: got %d, and %q was served; want %d, without the token", path, resp.StatusCode, seen, want)
		}
	}
}

// One client that guesses passwords does not lock out others, even at its own address.
func TestRateLimit_FailedLogins(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner)
	login := func(password string) int {
		return w.request(t, "POST", loginPath, "Passwd="+password, "Content-Type", "application/x-www-form-urlencoded").StatusCode
	}
	for range 3 * access.WrongTokens {
		if got := login("s3cret"); got != 200 {
			t.Fatalf("a right password: got %d, want 200", got)
		}
	}
	for range access.WrongTokens {
		if got := login("guess"); got != 401 {
			t.Fatalf("a wrong password: got %d, want 401", got)
		}
	}
	if got := login("guess"); got != http.StatusTooManyRequests {
		t.Errorf("after %d wrong passwords: got %d, want 429", access.WrongTokens, got)
	}
	if got := login("s3cret"); got != 200 {
		t.Errorf("a right password after wrong passwords: got %d, want 200", got)
	}
	if got := login(w.secret(t, access.Read)); got != 200 {
		t.Errorf("a token after wrong passwords: got %d, want 200", got)
	}
}

package console

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedmesh/agent/service"
	"feedmesh/subjects"
)

// The sites of most pages; reading changes none of them.
type sites struct {
	hostile *site
	empty   *site // nothing is stored
	broken  *site
	hung    *site
}

// A shown is a page's path, its expected status and its site.
type shown struct {
	target string
	status int
	site   *site
}

// request returns a request for the page.
func (p shown) request(t *testing.T) *http.Request {
	r := httptest.NewRequest("GET", p.target, nil)
	if p.site.timeout {
		ctx, cancel := context.WithDeadline(r.Context(), noon.AddDate(-10, 0, 0))
		t.Cleanup(cancel)
		r = r.WithContext(ctx)
	}
	return r
}

// A pageAnswer is the response of a page.
type pageAnswer struct {
	shown
	got     *http.Response
	body    []byte
	russian []byte // the body in Russian
}

// response returns the response with an unread body.
func (p pageAnswer) response() *http.Response {
	r := *p.got
	r.Body = io.NopCloser(bytes.NewReader(p.body))
	return &r
}

// recorded are the responses of all pages by name, requested by the first test that needs them.
var recorded map[string]pageAnswer

// pages returns the responses of all pages. The pages of an area are beside its tests.
func pages(t *testing.T) map[string]pageAnswer {
	t.Helper()
	if recorded != nil {
		return recorded
	}
	all := sites{hostile(t), newSite(t), broken(t), hung(t)}
	targets := map[string]shown{
		"help":           {"/help", 200, all.hostile},
		"sharing":        {"/read/share", 200, all.hostile},
		"unknown path":   {"/nothing", 404, all.hostile},
		"unknown style":  {"/style-0.css", 404, all.hostile},
		"unknown script": {"/base-0.js", 404, all.hostile},
	}
	for _, area := range []func(*testing.T, sites) map[string]shown{
		pagesOfSearches, pagesOfItems, pagesOfStories, pagesOfFeeds, pagesOfImports, pagesOfMesh, pagesOfStatistics, pagesOfSpam, pagesOfRules,
	} {
		maps.Copy(targets, area(t, all))
	}
	answers := map[string]pageAnswer{}
	for name, p := range targets {
		got := p.site.answer(p.request(t))
		inRussian := p.request(t)
		inRussian.Header.Set("Accept-Language", "ru")
		answers[name] = pageAnswer{p, got, []byte(body(t, got)), []byte(body(t, p.site.answer(inRussian)))}
	}
	recorded = answers
	return recorded
}

func TestPages_StatusAndHeaders(t *testing.T) {
	for name, p := range pages(t) {
		t.Run(name, func(t *testing.T) {
			r := p.response()
			if r.StatusCode != p.status {
				t.Errorf("status %d, want %d", r.StatusCode, p.status)
			}
			want := map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'; require-trusted-types-for 'script'; trusted-types feedmesh; worker-src 'none'",
				"Referrer-Policy":         "no-referrer",
				"X-Content-Type-Options":  "nosniff",
				"Cache-Control":           "no-store",
				"Content-Type":            "text/html; charset=utf-8",
			}
			for name, value := range want {
				if got := r.Header.Get(name); got != value {
					t.Errorf("%s: %q, want %q", name, got, value)
				}
			}
		})
	}
}

func TestPages_RejectOtherMethods(t *testing.T) {
	s := hostile(t)
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		for _, target := range []string{"/", "/items/evil", "/status", sheet.Path, "/none", "/feeds/evil"} {
			r := serve(s, method, target)
			if r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" || r.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s %s: %d, Allow %q", method, target, r.StatusCode, r.Header.Get("Allow"))
			}
		}
	}
	server := httptest.NewServer(asLocal(Handler(s.Service)))
	defer server.Close()
	r, err := http.Head(server.URL + "/status")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 200 || r.ContentLength < 1000 {
		t.Errorf("HEAD: status %d, length %d, want 200 and that of the page", r.StatusCode, r.ContentLength)
	}
}

func TestPages_ErrorsHideInternals(t *testing.T) {
	tested := 0
	for name, p := range pages(t) {
		stale := p.status == 400 && (strings.Contains(p.target, "cursor=") || strings.Contains(p.target, "after="))
		if !p.site.down && !stale {
			continue
		}
		tested++
		for _, secret := range []string{"127.0.0.1", "nats:", "search:", "deadline", "sql:", "closed", "store.db"} {
			if strings.Contains(string(p.body), secret) {
				t.Errorf("%s: the page says %q", name, secret)
			}
		}
	}
	if tested < 10 {
		t.Errorf("only %d pages report an error", tested)
	}
}

// A countingMesh counts the requests for depths of queues, one for each status.
type countingMesh struct {
	service.Mesh
	asked *int
}

func (m countingMesh) Depths(ctx context.Context) ([]subjects.Depth, error) {
	*m.asked++
	return m.Mesh.Depths(ctx)
}

func TestStatusCache_LimitsRequests(t *testing.T) {
	asked := 0
	s := newSite(t, func(d *service.Deps) { d.Mesh = countingMesh{d.Mesh, &asked} })
	s.Mesh.Broken = errUnavailable
	h := asLocal(Handler(s.Service))
	get := func() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}
	get()
	get()
	if asked != 1 {
		t.Errorf("two pages at once asked %d times, want 1", asked)
	}
	s.now = s.now.Add(statusMaxAge)
	get()
	if asked != 2 {
		t.Errorf("a page later on asked %d times in all, want 2", asked)
	}
}

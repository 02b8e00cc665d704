package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fetchRules fetches the rules of an address's site, which must not fail.
func fetchRules(t *testing.T, r *Robots, address string, now time.Time) *Rules {
	t.Helper()
	rules, err := r.Fetch(t.Context(), parsed(t, address), nil, now)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var monday = time.Date(2026, 9, 7, 12, 0, 0, 0, time.UTC)

func TestRobots_MeaningOfEachResponse(t *testing.T) {
	t.Parallel()
	const none = "User-agent: *\nDisallow: /"
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		want  bool          // whether pages may be fetched
		kept  time.Duration // how long the rules are cached
	}{
		{"a file", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, none) }, false, robotsMaxAge},
		{"an empty file", func(http.ResponseWriter, *http.Request) {}, true, robotsMaxAge},
		{"not found", http.NotFound, true, robotsMaxAge},
		{"forbidden", func(w http.ResponseWriter, r *http.Request) { http.Error(w, none, http.StatusForbidden) }, true, robotsMaxAge},
		{"a password", func(w http.ResponseWriter, r *http.Request) { http.Error(w, none, http.StatusUnauthorized) }, true, robotsMaxAge},
		{"too many requests", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "", http.StatusTooManyRequests) }, false, robotsRetryAfter},
		{"broken", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "", http.StatusBadGateway) }, false, robotsRetryAfter},
		{"no answer", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, false, robotsRetryAfter},
		{"moved", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
				return
			}
			fmt.Fprint(w, none)
		}, false, robotsMaxAge},
		{"moved and moved", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}, true, robotsMaxAge},
		{"a long file", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, none+"\n"+strings.Repeat("# a comment of this file\n", 30_000)+"Allow: /")
		}, false, robotsMaxAge},
		{"a longer one", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Repeat("#", 2<<20))
		}, false, robotsRetryAfter},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := serve(t, c.serve) + "/a/page"
			r := NewRobots(client(t))
			if got := fetchRules(t, r, page, monday).Allow(parsed(t, page)); got != c.want {
				t.Errorf("got allowed %t, want %t", got, c.want)
			}
			if _, known := r.Cached(parsed(t, page+"/other"), monday.Add(c.kept-time.Second)); !known {
				t.Errorf("it is forgotten before %v", c.kept)
			}
			if _, known := r.Cached(parsed(t, page), monday.Add(c.kept)); known {
				t.Errorf("the rules are cached for longer than %v", c.kept)
			}
		})
	}
}

func TestRobots_FetchesTheRootFileByProductToken(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	page := serve(t, func(w http.ResponseWriter, r *http.Request) { got.Store(r.URL.String() + " " + r.UserAgent()) }) + "/a/page?b=c"
	fetchRules(t, NewRobots(client(t)), page, monday)
	if want := "/robots.txt test"; got.Load() != want {
		t.Errorf("got requests %q, want %q", got.Load(), want)
	}
}

// The last rules of a site apply while it is unreachable.
func TestRobots_UnreachableSiteKeepsItsRules(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	page := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "User-agent: *\nDisallow: /b")
	}) + "/a"
	r := NewRobots(client(t))
	fetchRules(t, r, page, monday)
	away.Store(true)
	rules := fetchRules(t, r, page, monday.Add(robotsMaxAge))
	if !rules.Allow(parsed(t, page)) || rules.Allow(parsed(t, strings.TrimSuffix(page, "/a")+"/b")) {
		t.Error("want the last rules")
	}
	if _, known := r.Cached(parsed(t, page), monday.Add(robotsMaxAge+robotsRetryAfter)); known {
		t.Error("want it received again soon")
	}
}

func TestRobots_CanceledFetchIsNotCached(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	page := parsed(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})+"/a")
	r := NewRobots(client(t))
	if _, err := r.Fetch(ctx, page, nil, monday); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was not waited for", err)
	}
	if _, known := r.Cached(page, monday); known {
		t.Error("its rules are cached, want them fetched")
	}
}

// A getter returns documents without a network.
type getter func(Request) (Document, error)

func (g getter) Fetch(_ context.Context, r Request, _ time.Time) (Document, error) { return g(r) }

func TestRobots_CacheIsBounded(t *testing.T) {
	t.Parallel()
	short, _ := Compress([]byte("User-agent: *\nDisallow: /"))
	long, _ := Compress([]byte("User-agent: *\nDisallow: /" + strings.Repeat("x", maxRobots)))
	body := short
	r := NewRobots(getter(func(Request) (Document, error) { return Document{Body: body}, nil }))
	for i := range maxSites + 10 {
		fetchRules(t, r, fmt.Sprintf("http://%d.example/", i), monday)
	}
	if len(r.sites) != maxSites {
		t.Errorf("got %d sites remembered, want %d", len(r.sites), maxSites)
	}
	body = long
	for i := range 2 * maxRulesSize / maxRobots {
		fetchRules(t, r, fmt.Sprintf("http://%d.example/", i), monday)
	}
	if r.size > maxRulesSize || len(r.sites) < maxRulesSize/maxRobots/2 {
		t.Errorf("got %d bytes of %d sites remembered, want at most %d, and not much less", r.size, len(r.sites), maxRulesSize)
	}
	total := 0
	for _, s := range r.sites {
		total += s.rules.size()
	}
	if total != r.size {
		t.Errorf("got %d bytes counted, want %d", r.size, total)
	}
	fetchRules(t, r, "http://last.example/", monday)
	if _, known := r.Cached(parsed(t, "http://last.example/"), monday); !known {
		t.Error("the last rules are not cached")
	}
}

func TestRequest_CheckRedirectDecidesAboutRedirects(t *testing.T) {
	t.Parallel()
	var received atomic.Int64
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		received.Add(1)
		if r.URL.Path != "/c" {
			http.Redirect(w, r, map[string]string{"/a": "/b", "/b": "/c"}[r.URL.Path], http.StatusFound)
		}
	})
	no := errors.New("no")
	var to []string
	follow := func(u *url.URL) error {
		if to = append(to, u.Path); u.Path == "/c" {
			return no
		}
		return nil
	}
	if e := fails(t, client(t), Request{URL: address + "/a", CheckRedirect: follow}, ClassRedirect); !errors.Is(e, no) {
		t.Errorf("got %v, want the caller's error", e)
	}
	if strings.Join(to, " ") != "/b /c" || received.Load() != 2 {
		t.Errorf("got the caller received of %v and %d requests, want /b and /c, and 2", to, received.Load())
	}
}

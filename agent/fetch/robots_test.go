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

// ask asks the site of an address, which must answer in whatever way.
func ask(t *testing.T, r *Robots, address string, now time.Time) *Rules {
	t.Helper()
	rules, err := r.Ask(t.Context(), parsed(t, address), now)
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

func TestWhatAnAnswerForRobotsMeans(t *testing.T) {
	t.Parallel()
	const none = "User-agent: *\nDisallow: /"
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		want  bool          // whether pages may be fetched
		kept  time.Duration // how long that holds
	}{
		{"a file", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, none) }, false, robotsKept},
		{"an empty file", func(http.ResponseWriter, *http.Request) {}, true, robotsKept},
		{"not found", http.NotFound, true, robotsKept},
		{"forbidden", func(w http.ResponseWriter, r *http.Request) { http.Error(w, none, http.StatusForbidden) }, true, robotsKept},
		{"a password", func(w http.ResponseWriter, r *http.Request) { http.Error(w, none, http.StatusUnauthorized) }, true, robotsKept},
		{"too many requests", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "", http.StatusTooManyRequests) }, false, robotsAway},
		{"broken", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "", http.StatusBadGateway) }, false, robotsAway},
		{"no answer", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, false, robotsAway},
		{"moved", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
				return
			}
			fmt.Fprint(w, none)
		}, false, robotsKept},
		{"moved and moved", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}, true, robotsKept},
		{"a long file", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, none+"\n"+strings.Repeat("# all of this is said\n", 30_000)+"Allow: /")
		}, false, robotsKept},
		{"a longer one", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Repeat("#", 2<<20))
		}, false, robotsAway},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := serve(t, c.serve) + "/a/page"
			r := NewRobots(client(t))
			if got := ask(t, r, page, monday).Allow(parsed(t, page)); got != c.want {
				t.Errorf("got allowed %t, want %t", got, c.want)
			}
			if _, known := r.Known(parsed(t, page+"/other"), monday.Add(c.kept-time.Second)); !known {
				t.Errorf("it is forgotten before %v", c.kept)
			}
			if _, known := r.Known(parsed(t, page), monday.Add(c.kept)); known {
				t.Errorf("it is known for longer than %v", c.kept)
			}
		})
	}
}

func TestRobotsAreAskedForByNameAndAtTheRoot(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	page := serve(t, func(w http.ResponseWriter, r *http.Request) { got.Store(r.URL.String() + " " + r.UserAgent()) }) + "/a/page?b=c"
	ask(t, NewRobots(client(t)), page, monday)
	if want := "/robots.txt test"; got.Load() != want {
		t.Errorf("got %q asked, want %q", got.Load(), want)
	}
}

// What a site said last holds while it is away.
func TestRobotsOfASiteThatIsAwayStay(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	page := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "User-agent: *\nDisallow: /b")
	}) + "/a"
	r := NewRobots(client(t))
	ask(t, r, page, monday)
	away.Store(true)
	rules := ask(t, r, page, monday.Add(robotsKept))
	if !rules.Allow(parsed(t, page)) || rules.Allow(parsed(t, strings.TrimSuffix(page, "/a")+"/b")) {
		t.Error("want what it said last")
	}
	if _, known := r.Known(parsed(t, page), monday.Add(robotsKept+robotsAway)); known {
		t.Error("want it asked again soon")
	}
}

func TestRobotsThatAreNotWaitedForAreNotKnown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	page := parsed(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})+"/a")
	r := NewRobots(client(t))
	if _, err := r.Ask(ctx, page, monday); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was not waited for", err)
	}
	if _, known := r.Known(page, monday); known {
		t.Error("its rules are known, want them asked for")
	}
}

// A getter answers without a network.
type getter func(Request) (Document, error)

func (g getter) Fetch(_ context.Context, r Request, _ time.Time) (Document, error) { return g(r) }

func TestRobotsAreRememberedWithinBounds(t *testing.T) {
	t.Parallel()
	short, _ := Pack([]byte("User-agent: *\nDisallow: /"))
	long, _ := Pack([]byte("User-agent: *\nDisallow: /" + strings.Repeat("x", maxRobots)))
	body := short
	r := NewRobots(getter(func(Request) (Document, error) { return Document{Body: body}, nil }))
	for i := range maxSites + 10 {
		ask(t, r, fmt.Sprintf("http://%d.example/", i), monday)
	}
	if len(r.sites) != maxSites {
		t.Errorf("got %d sites remembered, want %d", len(r.sites), maxSites)
	}
	body = long
	for i := range 2 * maxRules / maxRobots {
		ask(t, r, fmt.Sprintf("http://%d.example/", i), monday)
	}
	if r.size > maxRules || len(r.sites) < maxRules/maxRobots/2 {
		t.Errorf("got %d bytes of %d sites remembered, want at most %d, and not much less", r.size, len(r.sites), maxRules)
	}
	total := 0
	for _, s := range r.sites {
		total += s.rules.size()
	}
	if total != r.size {
		t.Errorf("got %d bytes counted, want %d", r.size, total)
	}
	ask(t, r, "http://last.example/", monday)
	if _, known := r.Known(parsed(t, "http://last.example/"), monday); !known {
		t.Error("what was asked last is not known")
	}
}

func TestARedirectIsFollowedIfTheCallerWantsIt(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
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
	if e := fails(t, client(t), Request{URL: address + "/a", Follow: follow}, ClassRedirect); !errors.Is(e, no) {
		t.Errorf("got %v, want what the caller said", e)
	}
	if strings.Join(to, " ") != "/b /c" || asked.Load() != 2 {
		t.Errorf("got the caller asked of %v and %d requests, want /b and /c, and 2", to, asked.Load())
	}
}

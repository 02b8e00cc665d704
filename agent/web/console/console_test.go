package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

var noon = time.Date(2026, 9, 29, 12, 0, 0, 0, time.UTC)

// A fake is a source with preset responses.
type fake struct {
	detail
	ruleFake
	found    wire.SearchResults
	items    map[string]wire.ItemView
	status   wire.Status
	err      error // of searches and items
	meshErr  error
	searches []wire.Search
	asked    int // number of status requests

	feedFake
	feeds     wire.FeedPage
	discovery wire.Discovery
	outcome   string // outcome of adding a feed
	done      []string

	stories    wire.StoryPage
	bursts     wire.Bursts
	listed     []wire.StorySearch
	story      wire.StoryView // the only story
	duplicates wire.Duplicates
	related    wire.Related
	similar    []wire.FoundItem
	saved      []storage.SavedSearch
	editErr    error // of manual edits
}

func (f *fake) Duplicates(context.Context, string) (wire.Duplicates, error) {
	return f.duplicates, f.err
}

func (f *fake) Related(context.Context, string, int) (wire.Related, error) { return f.related, f.err }

func (f *fake) Searches(context.Context) ([]storage.SavedSearch, error) { return f.saved, f.err }

func (f *fake) PutSearch(_ context.Context, name string, what wire.SearchSetting) (storage.SavedSearch, error) {
	f.done = append(f.done, fmt.Sprintf("save %s %+v", name, what))
	return storage.SavedSearch{}, f.editErr
}

func (f *fake) RemoveSearch(_ context.Context, name string) error {
	f.done = append(f.done, "unsave "+name)
	return f.editErr
}

func (f *fake) Similar(context.Context, string, int) (wire.Similar, error) {
	return wire.Similar{Items: f.similar}, f.err
}

func (f *fake) LabelItem(ctx context.Context, id string, said wire.Correction) (wire.ItemView, error) {
	f.done = append(f.done, fmt.Sprintf("label %s %q %q", id, *said.Categories, *said.Topics))
	if f.editErr != nil {
		return wire.ItemView{}, f.editErr
	}
	return f.Item(ctx, id)
}

func (f *fake) Bursts(context.Context, string, int) (wire.Bursts, error) { return f.bursts, f.err }

func (f *fake) Stories(_ context.Context, q wire.StorySearch) (wire.StoryPage, error) {
	f.listed = append(f.listed, q)
	return f.stories, f.err
}

func (f *fake) Story(_ context.Context, id string) (wire.StoryView, error) {
	if f.err == nil && id != f.story.ID {
		return wire.StoryView{}, fmt.Errorf("story %s: %w", id, storage.ErrNotFound)
	}
	return f.story, f.err
}

func (f *fake) ClearDuplicate(_ context.Context, id string) (wire.Duplicates, error) {
	f.done = append(f.done, "differ "+id)
	return f.duplicates, f.editErr
}

func (f *fake) SplitStory(_ context.Context, id string, what wire.SplitRequest) (wire.StoryView, error) {
	f.done = append(f.done, fmt.Sprintf("split %s %+v", id, what))
	return f.story, f.editErr
}

func (f *fake) JoinStories(_ context.Context, id, other string) (wire.StoryView, error) {
	f.done = append(f.done, "join "+id+" "+other)
	return f.story, f.editErr
}

func (f *fake) Feed(_ context.Context, id string) (wire.Feed, error) {
	for _, feed := range f.feeds.Feeds {
		if feed.ID == id {
			return feed, f.err
		}
	}
	return wire.Feed{}, errors.Join(f.err, fmt.Errorf("feed %s: %w", id, storage.ErrNotFound))
}

func (f *fake) Discover(_ context.Context, address string) (wire.Discovery, error) {
	f.done = append(f.done, "discover "+address)
	return f.discovery, f.err
}

func (f *fake) AddFeeds(_ context.Context, urls, _ []string) (wire.ImportResults, error) {
	f.done = append(f.done, "add "+urls[0])
	return wire.ImportResults{Results: []wire.ImportResult{{FeedID: "id", Outcome: f.outcome, Reason: evil}}}, f.err
}

func (f *fake) RefreshFeed(_ context.Context, id string) error {
	f.done = append(f.done, "refresh "+id)
	_, err := f.Feed(context.Background(), id)
	return err
}

func (f *fake) SetSpam(ctx context.Context, id string, is bool) (wire.ItemView, error) {
	f.done = append(f.done, fmt.Sprintf("spam %s %t", id, is))
	return f.Item(ctx, id)
}

func (f *fake) Search(_ context.Context, q wire.Search) (wire.SearchResults, error) {
	f.searches = append(f.searches, q)
	return f.found, f.err
}

func (f *fake) Item(_ context.Context, id string) (wire.ItemView, error) {
	item, ok := f.items[id]
	if !ok && f.err == nil {
		return item, fmt.Errorf("item %s: %w", id, storage.ErrNotFound)
	}
	return item, f.err
}

func (f *fake) Status(context.Context) (wire.Status, error) {
	f.asked++
	return f.status, f.meshErr
}

const evil = `<script>alert("1")</script>'"><img src=x onerror=alert(1)>`

// hostile returns a source in which every text is hostile.
func hostile() *fake {
	item := storage.Item{
		ID: "evil", FeedID: `"><script>`, URL: "javascript:alert(1)", Title: evil, Author: evil,
		HTML:    `<h1>Big</h1><p>Kept <b>bold</b></div></main><img src="https://a.example/i.png" alt="">`,
		Excerpt: evil, Language: `en"><script>`, Categories: []string{evil, "databases"}, Topics: []string{evil},
		Tags: []string{evil}, Reasons: []string{evil}, Published: noon.Add(-time.Hour), FirstSeen: noon, Updated: noon,
		Assumed: "missing", Revision: 2, DuplicateOf: "../status", DuplicateBy: "url", Spam: true,
	}
	spans := []wire.Span{{Text: "<b>"}, {Text: evil, Hit: true}, {Text: "&amp;"}}
	facets := make([]wire.Facet, 12)
	for i := range facets {
		facets[i] = wire.Facet{Value: fmt.Sprint(evil, i), Label: evil, Count: 1234}
	}
	brief := wire.ItemBrief{
		ID: "evil2", Title: evil, URL: "javascript:alert(1)", FeedID: "f", FeedTitle: evil, Publisher: evil, Language: `en"><script>`,
		Seen: noon.Add(-time.Hour), StoryWhy: evil, Spam: true,
	}
	repeat := brief
	repeat.ID, repeat.DuplicateOf, repeat.DuplicateBy, repeat.DuplicateWhy = "evil3", "evil2", "title", evil
	story := storage.Story{
		ID: "evil", Partition: "en", Headline: "evil2", Title: evil, Summary: []storage.Line{{Text: evil, ItemID: "evil2"}}, Items: 4, Events: 2, Sources: 14,
		FirstSeen: noon.Add(-72 * time.Hour), LastSeen: noon, Categories: []string{evil, "databases"}, Topics: []string{evil}, Burst: true, Clicks: 3,
	}
	activity := wire.HourlyItems{Since: noon.Add(-72 * time.Hour), Hours: make([]int, 73)}
	activity.Hours[0], activity.Hours[72] = 3, 1
	publishers := make([]wire.Publisher, 14)
	for i := range publishers {
		publishers[i] = wire.Publisher{Name: evil, Items: 14 - i}
	}
	return &fake{
		detail: hostileMesh(), ruleFake: hostileRules(),
		stories: wire.StoryPage{Next: evil, Stories: []wire.StoryBrief{
			{Story: story, URL: "javascript:alert(1)", FeedID: "f", FeedTitle: evil, Publishers: []string{evil, evil}, Activity: activity, Why: evil},
			{Story: storage.Story{ID: "plain", Partition: subjects.OtherLanguages}, URL: "https://a.example/"},
		}},
		bursts: wire.Bursts{Bursts: []wire.Burst{
			{Of: "topic", Name: evil}, {Of: "category", Name: "databases"}, {Of: "story", Name: "evil", Title: evil},
		}},
		story: wire.StoryView{
			Story: story, Publishers: publishers, Activity: activity, Notes: []string{evil},
			Summary: []wire.Quote{{Text: evil, Item: brief}, {Text: evil, Item: repeat}},
			Timeline: []wire.StoryEvent{
				{ID: "e1", FirstSeen: noon, LastSeen: noon, Items: []wire.StoryItem{{ItemBrief: brief, Duplicates: []wire.ItemBrief{repeat}}}},
				{ID: `e2"><script>`, FirstSeen: noon, LastSeen: noon, Items: []wire.StoryItem{{ItemBrief: wire.ItemBrief{ID: "plain", URL: "https://a.example/"}}, {ItemBrief: brief}}},
			},
		},
		saved:      []storage.SavedSearch{{Name: "evil", Title: evil, Query: "q=" + url.QueryEscape(evil), Added: noon}, {Name: "plain"}},
		similar:    []wire.FoundItem{{Item: item, FeedTitle: evil}, {Item: storage.Item{ID: `"><script>`, Title: evil, URL: "javascript:alert(1)"}, FeedTitle: evil}},
		duplicates: wire.Duplicates{First: brief, Items: []wire.ItemBrief{repeat}},
		related:    wire.Related{Story: story, Items: []wire.ItemBrief{brief, repeat}},
		found: wire.SearchResults{
			Items: []wire.FoundItem{{Item: item, FeedTitle: evil, TitleSpans: spans, TextSpans: spans, Coverage: &wire.StoryCoverage{Items: 4, Sources: 3}}},
			Total: 41, Next: evil,
			Facets: map[string][]wire.Facet{"category": facets, "feed": facets, "language": facets},
		},
		feeds: wire.FeedPage{Next: evil, Feeds: []wire.Feed{
			{
				Feed:    storage.Feed{ID: "evil", URL: "https://a.example/" + evil, Title: evil, Site: "javascript:alert(1)", Language: evil, Tags: []string{evil}, Pinned: true, Added: noon, Items: 3, LastItem: noon, Rate: 1.5},
				Request: &wire.RequestView{UserAgent: evil, Headers: []string{evil}, User: evil, Password: "set", Proxy: evil},
				State:   &subjects.State{Tier: "hot", Next: noon.Add(time.Hour), Reason: evil, Polled: noon, Failures: 2, Class: evil, Error: evil, Changed: noon},
				Polls:   []subjects.Poll{{At: noon, Duration: 1234 * time.Millisecond, Status: 200, Size: 4200, ProxyID: evil, Reason: "price " + evil}, {At: noon.Add(-time.Hour), Class: evil}},
			},
			{Feed: storage.Feed{ID: "plain", URL: "https://b.example/"}},
		}},
		discovery: wire.Discovery{URL: "https://a.example/", Kind: wire.KindPage, Feeds: []wire.Candidate{
			{URL: "https://a.example/" + evil, FeedID: "evil", Stored: true, Title: evil, Format: "RSS", Entries: 2, Newest: noon},
			{URL: "https://a.example/2", Title: evil, Problem: evil},
		}},
		outcome: wire.ImportAdded,
		items:   map[string]wire.ItemView{"evil": {Item: item, FeedTitle: evil}},
		status: wire.Status{
			Version: "1", Feeds: wire.FeedCounts{Stored: 3, Polled: 2, Failing: 1}, Items: 41, Indexed: 40,
			Queues: []subjects.Depth{{Queue: "crawl", Tasks: 2, Bytes: 1500, Oldest: 75, Fill: .001}, {Queue: subjects.QuarantineStream, Tasks: 1}},
			Agents: []subjects.Agent{{ID: "a", Host: evil, Roles: []string{"crawl", evil}, Started: noon, Seen: noon, Memory: 1 << 20}},
			Active: map[string]subjects.Lease{evil: {Agent: "a", Host: evil, Since: "2026-09-29T11:00:00Z"}, "schedule": {}},
		},
	}
}

func serve(source Source, method, target string) *http.Response {
	w := httptest.NewRecorder()
	handler(source, func() time.Time { return noon }).ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w.Result()
}

// A shown is a page's path, its status and its source.
type shown struct {
	target string
	status int
	source *fake
}

// pages returns all pages. The pages of an area are beside its tests.
func pages() map[string]shown {
	all := map[string]shown{
		"help":           {"/help", 200, hostile()},
		"unknown path":   {"/nothing", 404, hostile()},
		"unknown style":  {"/style-0.css", 404, hostile()},
		"unknown script": {"/base-0.js", 404, hostile()},
	}
	for _, area := range []map[string]shown{pagesOfSearches(), pagesOfSaved(), pagesOfItems(), pagesOfStories(), pagesOfFeeds(), pagesOfImports(), pagesOfMesh(), pagesOfStatistics(), pagesOfSpam(), pagesOfRules()} {
		maps.Copy(all, area)
	}
	return all
}

// broken is a source in which every method fails.
func broken() *fake {
	down := hostile()
	down.err, down.meshErr = errors.New("dial tcp 127.0.0.1:7700: refused"), errors.New("nats: no responders")
	return down
}

// stale is a source that rejects every cursor.
func stale() *fake {
	source := hostile()
	source.err = fmt.Errorf("search: %w", storage.ErrBadCursor)
	return source
}

func TestPages_StatusAndHeaders(t *testing.T) {
	for name, p := range pages() {
		t.Run(name, func(t *testing.T) {
			r := serve(p.source, "GET", p.target)
			if r.StatusCode != p.status {
				t.Errorf("status %d, want %d", r.StatusCode, p.status)
			}
			images := "img-src 'none'"
			if p.status == 200 && strings.HasPrefix(p.target, "/items/") {
				images = "img-src https: http:"
			}
			want := map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types feedmesh; " + images,
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
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		for _, target := range []string{"/", "/items/evil", "/status", sheet.Path, "/none", "/feeds/evil"} {
			r := serve(hostile(), method, target)
			if r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" || r.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s %s: %d, Allow %q", method, target, r.StatusCode, r.Header.Get("Allow"))
			}
		}
	}
	server := httptest.NewServer(handler(hostile(), time.Now))
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
	for name, p := range pages() {
		if p.source.err == nil {
			continue
		}
		page := body(t, serve(p.source, "GET", p.target))
		for _, secret := range []string{"127.0.0.1", "nats:", "search:", "deadline"} {
			if strings.Contains(page, secret) {
				t.Errorf("%s: the page says %q", name, secret)
			}
		}
	}
}

func TestStatusCache_LimitsRequests(t *testing.T) {
	source, now := hostile(), noon
	source.meshErr = errors.New("nats: no responders")
	h := handler(source, func() time.Time { return now })
	get := func() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}
	get()
	get()
	if source.asked != 1 {
		t.Errorf("two pages at once asked %d times, want 1", source.asked)
	}
	now = now.Add(statusMaxAge)
	get()
	if source.asked != 2 {
		t.Errorf("a page later on asked %d times in all, want 2", source.asked)
	}
}

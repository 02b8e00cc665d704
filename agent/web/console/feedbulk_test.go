package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// post submits a form.
func post(source *site, target string, form url.Values) *http.Response {
	return submit(source, target, form.Encode())
}

// hidden returns the hidden fields of the form with an action.
func hidden(page *html.Node, path string) url.Values {
	fields := url.Values{}
	for _, form := range elements(page, "form") {
		if attr(form, "action") != path {
			continue
		}
		for _, in := range elements(form, "input") {
			if attr(in, "type") == "hidden" {
				fields.Add(attr(in, "name"), attr(in, "value"))
			}
		}
	}
	return fields
}

// A slowMesh takes longer to publish its first message than a step of a bulk change lasts, so that a step ends early.
type slowMesh struct {
	service.Mesh
	once *sync.Once
}

func (m slowMesh) Publish(ctx context.Context, messages ...subjects.Message) error {
	m.once.Do(func() { <-time.After(4 * time.Second) })
	return m.Mesh.Publish(ctx, messages...)
}

// observed returns the IDs of the feeds of which an outcome was published.
func (s *site) observed(t *testing.T, outcome subjects.Outcome) (ids []string) {
	t.Helper()
	for _, task := range servicetest.Published(t, s.Mesh, subjects.ObserveQueue) {
		for _, o := range task.Observations {
			if o.Outcome == outcome {
				ids = append(ids, o.FeedID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

func TestFeedsPage_BulkChanges(t *testing.T) {
	t.Run("at once where few are chosen", func(t *testing.T) {
		source := newSite(t)
		full := storage.Feed{ID: evil, URL: "https://c.example/", Added: noon}
		for n := range service.MaxTags {
			full.Tags = append(full.Tags, fmt.Sprint(n))
		}
		source.AddFeeds(t, storage.Feed{ID: "1", URL: "https://a.example/", Added: noon}, storage.Feed{ID: "2", URL: "https://b.example/", Added: noon}, full)
		r := post(source, "/feeds/bulk", url.Values{"do": {"tag"}, "tags": {"a, b ,"}, "id": {"1", "2", evil}, "state": {"failing"}})
		for id, want := range map[string][]string{"1": {"a", "b"}, "2": {"a", "b"}, evil: full.Tags} {
			if f, err := source.Store.Feed(t.Context(), id); err != nil || !slices.Equal(f.Tags, want) {
				t.Errorf("%s has the tags %q, want %q, %v", id, f.Tags, want, err)
			}
		}
		if got := source.observed(t, subjects.Changed); !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("changed are %q", got)
		}
		page := parse(t, body(t, r))
		if text := words(page); !strings.Contains(text, "2 feeds tagged 1 feed could not be changed: can't be done to many feeds: it would have more than 32 tags") {
			t.Errorf("the page says %q", text)
		}
		if got := link(page, "Back to the feeds"); got != "/feeds?state=failing" {
			t.Errorf("back is at %q", got)
		}
	})
	t.Run("after a question where many are, step by step", func(t *testing.T) {
		source := newSite(t, func(d *service.Deps) { d.Mesh = slowMesh{d.Mesh, new(sync.Once)} })
		var feeds []storage.Feed
		for n := range 1500 {
			id := fmt.Sprintf("n%04d", n)
			feeds = append(feeds, storage.Feed{ID: id, URL: "https://" + id + ".example/", Title: `"><script>`, Added: noon})
			source.Mesh.States[id] = &subjects.State{Tier: "hot", Polled: noon, Failures: 1, Class: "dns"}
		}
		source.AddFeeds(t, append(feeds, storage.Feed{ID: "other", URL: "https://other.example/", Title: `"><script>`, Added: noon})...)
		form := url.Values{"do": {"refresh"}, "all": {"yes"}, "class": {"dns"}, "q": {`"><script>`}}
		page := parse(t, body(t, post(source, "/feeds/bulk", form)))
		if !strings.Contains(words(page), "Poll 1,500 feeds?") || len(source.observed(t, subjects.Refresh)) != 0 {
			t.Fatalf("%d feeds are changed, the page says %q; want a count and a question", len(source.observed(t, subjects.Refresh)), words(page))
		}
		page = parse(t, body(t, post(source, "/feeds/bulk", hidden(page, "/feeds/bulk"))))
		if n := len(source.observed(t, subjects.Refresh)); n != 500 || !strings.Contains(words(page), "500 feeds queued for polling") || !strings.Contains(words(page), "More feeds remain") {
			t.Fatalf("%d feeds are changed, the page says %q; want the first step", n, words(page))
		}
		if got := hidden(page, "/feeds/bulk").Get("from"); got != "https://n0499.example/" {
			t.Errorf("the next step continues after %q", got)
		}
		page = parse(t, body(t, post(source, "/feeds/bulk", hidden(page, "/feeds/bulk"))))
		if got := source.observed(t, subjects.Refresh); len(got) != 1500 || len(slices.Compact(got)) != 1500 || slices.Contains(got, "other") ||
			!strings.Contains(words(page), "1,000 feeds queued for polling") || strings.Contains(words(page), "More feeds remain") {
			t.Errorf("%d feeds are changed, the page says %q; want the last step", len(got), words(page))
		}
	})
	t.Run("after a question where they are to be removed", func(t *testing.T) {
		source := newSite(t)
		source.AddFeeds(t, storage.Feed{ID: "1", URL: "https://a.example/", Added: noon})
		page := words(parse(t, body(t, post(source, "/feeds/bulk", url.Values{"do": {"remove"}, "id": {"1"}}))))
		if _, err := source.Store.Feed(t.Context(), "1"); err != nil || !strings.Contains(page, "Remove 1 feed?") {
			t.Errorf("got %v, the page says %q; want nothing but a count", err, page)
		}
	})
	t.Run("only if it makes sense", func(t *testing.T) {
		source := newSite(t)
		for _, form := range []url.Values{{}, {"do": {"explode"}, "id": {"1"}}, {"do": {"pin"}}, {"do": {"pin"}, "all": {"yes"}, "state": {"odd"}}} {
			if r := post(source, "/feeds/bulk", form); r.StatusCode != 400 {
				t.Errorf("%v: status %d, want 400", form, r.StatusCode)
			}
		}
		for range service.MaxBulks {
			source.Bulk.Slots <- struct{}{}
		}
		if r := post(source, "/feeds/bulk", url.Values{"do": {"pin"}, "id": {"1"}}); r.StatusCode != 429 {
			t.Errorf("while others are: status %d, want 429", r.StatusCode)
		}
	})
}

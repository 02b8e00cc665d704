package console

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/store/keep"
	"feedmesh/config"
	"feedmesh/storage"
)

func TestRetention_SaysWhatIsPurgedNext(t *testing.T) {
	s := newSite(t)
	s.AddFeeds(t, storage.Feed{ID: storage.FeedID("https://old.example/"), URL: "https://old.example/", Title: evil, Added: noon})
	id := storage.FeedID("https://old.example/")
	s.items(t, id, storage.Item{Key: "a", HTML: strings.Repeat("x", 3000), FirstSeen: noon.Add(-60 * 24 * time.Hour)}, storage.Item{Key: "b", FirstSeen: noon.Add(-time.Hour)})
	state, err := json.Marshal(keep.State{
		Policy: keep.Policy{Default: storage.Keep{Age: 30 * 24 * time.Hour}, Tags: []config.TagKeep{{Tag: "photos"}}}, Begins: noon.Add(time.Hour), Reason: keep.Changed,
		Plan: keep.Plan{Items: 1, Bytes: 3000, Oldest: noon.Add(-60 * 24 * time.Hour), Feeds: []keep.FeedPlan{{FeedID: id, Items: 1, Bytes: 3000}, {FeedID: "removed", Items: 1}}},
	})
	must(t, err)
	must(t, storage.Notes(s.Store).Put(t.Context(), storage.Fence{}, "retention", state))
	page := parse(t, body(t, serve(s, "GET", "/mesh")))
	said := words(page)
	for _, want := range []string{
		"Items are kept: 30d. By tag: photos=all.",
		"1 item with 3 KB of text, the oldest of 2 months ago will be purged from 29 September, 13:00 UTC on: the settings changed.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	if got := link(page, evil); got != "/feeds/"+id {
		t.Errorf("the feed is at %q", got)
	}

	if r := post(s, "/feeds/"+id+"/settings", url.Values{"keep": {"5 days"}}); r.StatusCode != 422 {
		t.Errorf("status %d for a wrong limit, want 422", r.StatusCode)
	}
	if r := post(s, "/feeds/"+id+"/settings", url.Values{"keep": {" 1, 40d "}}); r.StatusCode != 303 {
		t.Errorf("status %d, want 303", r.StatusCode)
	}
	said = words(parse(t, body(t, serve(s, "GET", "/feeds/"+id))))
	if want := "1 item with 3 KB of text, the oldest of 2 months ago of this feed will be purged by its setting 40d,1,"; !strings.Contains(said, want) {
		t.Errorf("the page does not say %q: %s", want, said)
	}
}

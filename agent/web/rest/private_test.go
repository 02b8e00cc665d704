package rest

import (
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// The address of a private feed contains a password or a key. Clients of scope search never see it: a feed without a
// title is named by its host.
func TestScopes_SearchSeesNoFeedAddresses(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner)
	const key = "PrivateKey1"
	var items []storage.Item
	for _, feed := range []storage.Feed{
		{URL: "https://host1.example/feed?key=" + key}, {URL: "https://user:" + key + "@host2.example/feed"}, {URL: "https://host3.example/" + key + ".xml"},
		{URL: "https://host4.example/feed?key=" + key, Title: "https://host4.example/feed?key=" + key},
	} {
		feed.ID, feed.Added = storage.FeedID(feed.URL), now
		w.AddFeeds(t, feed)
		items = append(items, w.PutItems(t, feed.ID, storage.Item{Key: "1", Language: "en", Title: "Secretive entry", HTML: "<p>Secretive.</p>", Published: now})...)
	}
	w.IndexItems(t, items...)
	search, read := "Bearer "+w.secret(t, access.Search), "Bearer "+w.secret(t, access.Read)
	names := w.request(t, "GET", "/api/search?q=secretive&facets=true", "", "Authorization", search).body
	for _, host := range []string{"host1.example", "host2.example", "host3.example", "host4.example"} {
		if !strings.Contains(names, `"feed_title":"`+host+`"`) {
			t.Errorf("there is no name %s in %s", host, names)
		}
	}
	paths := []string{"/api/search?q=secretive&facets=true", "/api/search?q=feed:host", "/api/suggest?prefix=priv", "/api/stories", "/api/bursts", "/openapi.json", "/api/views",
		"/outputs/search.rss?q=secretive", "/outputs/search.atom?q=secretive", "/outputs/search.json?q=secretive", "/outputs/stories.json", "/outputs/tag.json?tag=it"}
	for _, i := range items {
		for _, suffix := range []string{"", "/similar", "/duplicates", "/related", "/explain?with=" + items[0].ID} {
			paths = append(paths, "/api/items/"+i.ID+suffix)
		}
	}
	for _, path := range paths {
		if a := w.request(t, "GET", path, "", "Authorization", search); strings.Contains(a.body, key) || a.StatusCode == 401 || a.StatusCode >= 500 {
			t.Errorf("%s: got %d %s, want no address of a feed", path, a.StatusCode, a.body)
		}
	}
	for _, path := range []string{"/api/feeds", "/api/feeds/export", "/reader/api/0/subscription/list"} {
		if a := w.request(t, "GET", path, "", "Authorization", search); a.StatusCode != 403 || strings.Contains(a.body, key) {
			t.Errorf("%s with scope search: got %d %s, want 403", path, a.StatusCode, a.body)
		}
		if a := w.request(t, "GET", path, "", "Authorization", read); a.StatusCode != 200 || !strings.Contains(a.body, key) {
			t.Errorf("%s with scope read: got %d %s, want the addresses", path, a.StatusCode, a.body)
		}
	}
}

package storagetest

import (
	"time"

	"feedmesh/storage"
)

func (c storeTest) setFeed() {
	want := aFeed("https://example.org/")
	c.addFeed(want.URL)
	item := anItem(want.ID, "key")
	item.Spam = false
	c.put(item)
	want = c.feed(want.ID)
	c.wantEqual("how many categories it has", len(want.Categories), 2)
	for _, request := range []*storage.Request{
		nil,
		{UserAgent: "Reader <1>", User: "me", Password: "sécret&\"", Proxy: "direct"},
		{Header: map[string]string{"Accept": "*/*", "X-Key": "a,b; c=\"d\""}},
	} {
		for _, tags := range [][]string{{"work"}, nil} {
			want.Tags, want.Pinned, want.FullText, want.Request = tags, !want.Pinned, want.Pinned, request
			want.SpamThreshold = map[bool]float64{true: 1.0 / 3}[want.Pinned]
			got, err := c.SetFeed(c.Context(), want.ID, storage.Settings{Tags: tags, Pinned: want.Pinned, FullText: want.FullText,
				Request: request, SpamThreshold: want.SpamThreshold})
			if err != nil {
				c.Fatal(err)
			}
			c.wantEqual("the feed that is returned", got, want)
			c.wantEqual("the feed", c.feed(want.ID), want)
		}
	}
	page, err := c.FindFeeds(c.Context(), storage.FeedQuery{Limit: 10})
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the list of feeds", page, []storage.Feed{want})
}

func (c storeTest) documentsKeepSettings() {
	want := aFeed("https://example.org/")
	c.addFeed(want.URL)
	c.putBatch(storage.Batch{FeedID: want.ID, Title: "Another", Rate: 2})
	want.Title, want.Rate = "Another", 2
	c.wantEqual("the feed", c.feed(want.ID), want)
}

// aProxy returns a proxy with a value in every field.
func aProxy(id string) storage.Proxy {
	return storage.Proxy{ID: id, URL: "socks5://me:s%26cret@" + id + ".example:1080", Hosts: []string{"example.org", "пример.рф"},
		Always: true, Added: day}
}

// wantProxies fails unless Proxies returns exactly these, in this order.
func (c storeTest) wantProxies(want ...storage.Proxy) {
	c.Helper()
	got, err := storage.Proxies(c.Store).List(c.Context())
	if err != nil || len(got) != len(want) {
		c.Fatalf("there are %d proxies, %v; want %d", len(got), err, len(want))
	}
	for i := range want {
		c.wantEqual("a proxy", got[i], want[i])
	}
}

func (c storeTest) putProxy(p storage.Proxy) {
	c.Helper()
	if err := storage.Proxies(c.Store).Put(c.Context(), p); err != nil {
		c.Fatalf("put proxy: %v", err)
	}
}

func (c storeTest) proxies() {
	c.wantProxies()
	bare := storage.Proxy{ID: "Bare", URL: "http://bare.example:3128", Added: day}
	c.putProxy(aProxy("b"))
	c.putProxy(bare)
	c.putProxy(aProxy("a"))
	c.wantProxies(bare, aProxy("a"), aProxy("b"))

	other := storage.Proxy{ID: "a", URL: "https://other.example", Hosts: []string{"x.example"}, Added: day.Add(time.Hour)}
	c.putProxy(other)
	c.wantProxies(bare, other, aProxy("b"))
}

func (c storeTest) removeProxy() {
	c.putProxy(aProxy("a"))
	c.putProxy(aProxy("b"))
	if err := storage.Proxies(c.Store).Remove(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	c.wantProxies(aProxy("b"))
	c.wantError("remove it again", storage.Proxies(c.Store).Remove(c.Context(), "a"), storage.ErrNotFound)
}

package storagetest

import (
	"fmt"
	"time"

	"feedmesh/storage"
)

// aProxy returns a proxy with a value in every field.
func aProxy(id string) storage.Proxy {
	return storage.Proxy{ID: id, URL: "socks5://me:s%26cret@" + id + ".example:1080", Hosts: []string{"example.org", "пример.рф"},
		Always: true, Added: day}
}

// wantProxies fails unless Proxies returns exactly these, in this order.
func wantProxies(c storeTest, want ...storage.Proxy) {
	c.Helper()
	got, err := storage.Proxies(c.Store).List(c.Context())
	if err != nil || len(got) != len(want) {
		c.Fatalf("there are %d proxies, %v; want %d", len(got), err, len(want))
	}
	for i := range want {
		c.wantEqual("a proxy", got[i], want[i])
	}
}

func putProxy(c storeTest, p storage.Proxy) {
	c.Helper()
	if err := storage.Proxies(c.Store).Put(c.Context(), p); err != nil {
		c.Fatalf("put proxy: %v", err)
	}
}

func proxies(c storeTest) {
	wantProxies(c)
	bare := storage.Proxy{ID: "Bare", URL: "http://bare.example:3128", Added: day}
	putProxy(c, aProxy("b"))
	putProxy(c, bare)
	putProxy(c, aProxy("a"))
	wantProxies(c, bare, aProxy("a"), aProxy("b"))

	other := storage.Proxy{ID: "a", URL: "https://other.example", Hosts: []string{"x.example"}, Added: day.Add(time.Hour)}
	putProxy(c, other)
	wantProxies(c, bare, other, aProxy("b"))
}

func removeProxy(c storeTest) {
	putProxy(c, aProxy("a"))
	putProxy(c, aProxy("b"))
	if err := storage.Proxies(c.Store).Remove(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	wantProxies(c, aProxy("b"))
	c.wantError("remove it again", storage.Proxies(c.Store).Remove(c.Context(), "a"), storage.ErrNotFound)
}

func aSearch(name string) storage.SavedSearch {
	return storage.SavedSearch{Name: name, Title: "All of <" + name + ">", Query: "q=%22a+b%22&category=" + name, Added: day}
}

func wantSearches(c storeTest, want ...storage.SavedSearch) {
	c.Helper()
	got, err := storage.SavedSearches(c.Store).List(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the saved searches", append([]storage.SavedSearch{}, got...), append([]storage.SavedSearch{}, want...))
}

func searchesInOrder(c storeTest) {
	wantSearches(c)
	for _, name := range []string{"b", "c", "a"} {
		if err := storage.SavedSearches(c.Store).Put(c.Context(), aSearch(name)); err != nil {
			c.Fatal(err)
		}
	}
	other := storage.SavedSearch{Name: "b", Query: "q=x", Added: day.Add(time.Hour)}
	if err := storage.SavedSearches(c.Store).Put(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	wantSearches(c, aSearch("a"), other, aSearch("c"))
	if err := storage.SavedSearches(c.Store).Remove(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove a search that is not there", storage.SavedSearches(c.Store).Remove(c.Context(), "a"), storage.ErrNotFound)
	wantSearches(c, other, aSearch("c"))
}

func manySearches(c storeTest) {
	for i := range storage.MaxSearches {
		if err := storage.SavedSearches(c.Store).Put(c.Context(), aSearch(fmt.Sprintf("%04d", i))); err != nil {
			c.Fatal(err)
		}
	}
	c.wantError("save one search too many", storage.SavedSearches(c.Store).Put(c.Context(), aSearch("more")), storage.ErrTooMany)
	if err := storage.SavedSearches(c.Store).Put(c.Context(), aSearch("0000")); err != nil {
		c.Errorf("save an existing search: %v", err)
	}
}

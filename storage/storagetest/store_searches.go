package storagetest

import (
	"fmt"
	"time"

	"feedmesh/storage"
)

func aSearch(name string) storage.SavedSearch {
	return storage.SavedSearch{Name: name, Title: "All of <" + name + ">", Query: "q=%22a+b%22&category=" + name, Added: day}
}

func (c storeTest) wantSearches(want ...storage.SavedSearch) {
	c.Helper()
	got, err := storage.SavedSearches(c.Store).List(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the saved searches", append([]storage.SavedSearch{}, got...), append([]storage.SavedSearch{}, want...))
}

func (c storeTest) searchesInOrder() {
	c.wantSearches()
	for _, name := range []string{"b", "c", "a"} {
		if err := storage.SavedSearches(c.Store).Put(c.Context(), aSearch(name)); err != nil {
			c.Fatal(err)
		}
	}
	other := storage.SavedSearch{Name: "b", Query: "q=x", Added: day.Add(time.Hour)}
	if err := storage.SavedSearches(c.Store).Put(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	c.wantSearches(aSearch("a"), other, aSearch("c"))
	if err := storage.SavedSearches(c.Store).Remove(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove a search that is not there", storage.SavedSearches(c.Store).Remove(c.Context(), "a"), storage.ErrNotFound)
	c.wantSearches(other, aSearch("c"))
}

func (c storeTest) manySearches() {
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

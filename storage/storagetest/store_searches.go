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
	got, err := c.SavedSearches(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the saved searches", append([]storage.SavedSearch{}, got...), append([]storage.SavedSearch{}, want...))
}

func (c storeTest) searchesInOrder() {
	c.wantSearches()
	for _, name := range []string{"b", "c", "a"} {
		if err := c.PutSearch(c.Context(), aSearch(name)); err != nil {
			c.Fatal(err)
		}
	}
	other := storage.SavedSearch{Name: "b", Query: "q=x", Added: day.Add(time.Hour)}
	if err := c.PutSearch(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	c.wantSearches(aSearch("a"), other, aSearch("c"))
	if err := c.RemoveSearch(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	c.wantError("remove a search that is not there", c.RemoveSearch(c.Context(), "a"), storage.ErrNotFound)
	c.wantSearches(other, aSearch("c"))
}

func (c storeTest) manySearches() {
	for i := range storage.MaxSearches {
		if err := c.PutSearch(c.Context(), aSearch(fmt.Sprintf("%04d", i))); err != nil {
			c.Fatal(err)
		}
	}
	c.wantError("save one search too many", c.PutSearch(c.Context(), aSearch("more")), storage.ErrTooMany)
	if err := c.PutSearch(c.Context(), aSearch("0000")); err != nil {
		c.Errorf("save an existing search: %v", err)
	}
}

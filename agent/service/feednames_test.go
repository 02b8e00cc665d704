package service

import (
	"testing"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

func TestSearch_UnmatchedFeedTitleMatchesNothing(t *testing.T) {
	t.Parallel()
	c := &core{Deps: Deps{Store: enginetest.Store(t)}}
	named, err := c.named(t.Context(), query.FieldEquals{Field: query.Feed, Value: "nothing"})
	all := storage.Query{}
	if none := (storage.Query{Where: named}); err != nil || none.Key() == all.Key() {
		t.Errorf("got %q, %v, which an index that keeps answers takes for all items", named, err)
	}
}

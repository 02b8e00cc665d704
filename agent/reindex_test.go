package main

import (
	"testing"

	"feedmesh/storage"
)

func TestReindexWaitsForTheQueue(t *testing.T) {
	for _, c := range []struct {
		line []string
		out  string
	}{
		{[]string{"reindex"}, "done: of 2 items the index lacked 0, had 2 out of date and 0 left over; it is repaired"},
		{[]string{"reindex", "--all"}, "all of them were indexed anew"},
	} {
		w := newWorld(t)
		w.mesh.waiting = 3
		w.do(t, c.line...).check(t, 0, c.out, "")
		if w.mesh.waiting != 0 {
			t.Errorf("%v: %d tasks still wait", c.line, w.mesh.waiting)
		}
	}
}

func TestReindexOfATrueIndexWaitsForNothing(t *testing.T) {
	w := newWorld(t)
	items, err := w.store.Items(t.Context(), storage.ItemID(w.feed, "1"), storage.ItemID(w.feed, "2"))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if err := w.index.Put(t.Context(), storage.Indexed{Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	w.mesh.waiting = 1 << 40
	w.do(t, "reindex").check(t, 0, "done: the index had all 2 items as they are in the store", "")
}

package command

import (
	"testing"

	"feedmesh/storage"
)

func TestReindex_WaitsForQueue(t *testing.T) {
	for _, c := range []struct {
		line []string
		out  string
	}{
		{[]string{"reindex"}, "reindex done: 2 items compared, 0 missing, 2 outdated, 0 surplus; all repaired"},
		{[]string{"reindex", "--all"}, "all items were reindexed"},
	} {
		w := newTestbed(t)
		w.Mesh.Queues[0].Tasks = 3
		w.do(t, c.line...).check(t, 0, c.out, "")
		if w.Mesh.Queues[0].Tasks != 0 {
			t.Errorf("%v: %d tasks still wait", c.line, w.Mesh.Queues[0].Tasks)
		}
	}
}

func TestReindex_CurrentIndexDoesNotWait(t *testing.T) {
	w := newTestbed(t)
	items, err := w.Store.Items(t.Context(), storage.ItemID(w.feed, "1"), storage.ItemID(w.feed, "2"))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if err := w.Index.Put(t.Context(), storage.IndexItem{Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	w.Mesh.Queues[0].Tasks = 1 << 40
	w.do(t, "reindex").check(t, 0, "reindex done: all 2 items match the store", "")
}

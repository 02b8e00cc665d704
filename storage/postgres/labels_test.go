package postgres

import (
	"fmt"
	"testing"

	"feedmesh/storage"
)

// An older program deletes items, but not their saved labels.
func TestMoveFeed_IgnoresStrayLabels(t *testing.T) {
	ctx := t.Context()
	url := emptySchema(t)
	s := open(t, url)
	from := addFeed(t, s)
	b := benchBatch(from, 0, 3)
	if _, err := s.PutItems(ctx, b); err != nil {
		t.Fatal(err)
	}
	for _, item := range b.Items {
		if _, err := s.Relabel(ctx, "job", storage.Labels{ItemID: item.ID}); err != nil {
			t.Fatal(err)
		}
	}
	to := storage.FeedID(benchURL(1))
	now := storage.ItemID(to, b.Items[1].Key)
	exec(t, url, fmt.Sprintf(`INSERT INTO kept_labels (job, item_id, labels) VALUES ('job', '%s', '{"topics": ["stray"]}')`, now))
	if _, err := s.MoveFeed(ctx, from, benchURL(1)); err != nil {
		t.Fatal(err)
	}
	if restored, err := s.UndoRelabel(ctx, "job", 10); err != nil || len(restored) != 3 {
		t.Errorf("restored %v, %v; want all three", restored, err)
	}
	if got, err := storage.ItemByID(ctx, s, now); err != nil || len(got.Topics) != 0 || len(got.Categories) != 1 {
		t.Errorf("got labels %v, %v, %v; want the old labels", got.Categories, got.Topics, err)
	}
}

package storage_test

import (
	"reflect"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestRevise_KeepsDateIfNextIsAssumed(t *testing.T) {
	t.Parallel()
	seen := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	dated, later := seen.Add(-time.Hour), seen.Add(time.Hour)
	for _, test := range []struct {
		name            string
		old, next, want storage.Item
	}{
		{"a date takes the place of another",
			storage.Item{Published: dated}, storage.Item{Published: later}, storage.Item{Published: later}},
		{"a date takes the place of an assumed one",
			storage.Item{Published: seen, Assumed: "missing"}, storage.Item{Published: dated}, storage.Item{Published: dated}},
		{"an assumed date takes no date's place",
			storage.Item{Published: dated}, storage.Item{Published: later, Assumed: "future"}, storage.Item{Published: dated}},
		{"an assumed date stays with its reason",
			storage.Item{Published: seen, Assumed: "missing"}, storage.Item{Published: later, Assumed: "future"},
			storage.Item{Published: seen, Assumed: "missing"}},
		{"an edited item stays where it belongs",
			storage.Item{Partition: "en", EventID: "e", StoryID: "s", StoryReason: "w", DuplicateOf: "d", DuplicateBy: "title", DuplicateScore: 0.9, DuplicateReason: "x", Clicks: 2},
			storage.Item{Partition: "ru", EventID: "f", StoryID: "t", DuplicateOf: "g", Clicks: 7},
			storage.Item{Partition: "en", EventID: "e", StoryID: "s", StoryReason: "w", DuplicateOf: "d", DuplicateBy: "title", DuplicateScore: 0.9, DuplicateReason: "x", Clicks: 2}},
	} {
		test.old.Revision, test.old.FirstSeen, test.old.Title = 3, seen, "Old"
		test.next.Revision, test.next.FirstSeen, test.next.Title = 1, later, "New"
		test.want.Revision, test.want.FirstSeen, test.want.Title = 4, seen, "New"
		if got := storage.Revise(test.old, test.next); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

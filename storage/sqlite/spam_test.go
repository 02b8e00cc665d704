package sqlite_test

import (
	"slices"
	"testing"

	"feedmesh/storage"
)

func TestListSpam_EqualTimesAreListedOnce(t *testing.T) {
	path := storePath(t)
	s := open(t, path)
	defer closeStore(t, s)
	b := batch(addFeed(t, s), 0)
	var want []string
	for i := range b.Items {
		b.Items[i].Spam = true
		want = append(want, b.Items[i].ID)
	}
	slices.Sort(want)
	if _, err := s.PutItems(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	run(t, path, `UPDATE spam SET judged = 1772000000000000`)
	for _, q := range []storage.SpamQuery{{}, {FeedID: b.FeedID}} {
		var got []string
		for after := (storage.SpamItem{}); ; {
			page, _, err := s.ListSpam(t.Context(), q, after, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, found := range page {
				got, after = append(got, found.ID), found
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v lists %v, want %v", q, got, want)
		}
	}
}

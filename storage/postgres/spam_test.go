package postgres

import (
	"slices"
	"testing"

	"feedmesh/storage"
)

func TestListSpam_EqualTimesAreListedOnce(t *testing.T) {
	url := emptySchema(t)
	s := open(t, url)
	b := benchBatch(addFeed(t, s), 0, 20)
	var want []string
	for i := range b.Items {
		b.Items[i].Spam = true
		want = append(want, b.Items[i].ID)
	}
	slices.Sort(want)
	if _, err := s.PutItems(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	exec(t, url, `UPDATE spam SET judged = '2026-03-01 12:00 UTC'`)
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

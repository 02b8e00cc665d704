package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
)

// Both indexes for a list by time give the same list, and the one of many recent items gives it without sorting.
func TestListMarked_EitherIndex(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	feed := storage.Feed{ID: storage.FeedID("https://a.example/"), URL: "https://a.example/", Added: start}
	if _, err := s.AddFeeds(t.Context(), feed); err != nil {
		t.Fatal(err)
	}
	batch := storage.Batch{FeedID: feed.ID}
	for n := range 50 {
		key := fmt.Sprint(n)
		seen := start.Add(time.Duration(n/10) * time.Hour)
		batch.Items = append(batch.Items, storage.Item{ID: storage.ItemID(feed.ID, key), FeedID: feed.ID, Key: key, Hash: key, FirstSeen: seen, Published: seen.Add(-time.Duration(n*n%17) * time.Hour)})
	}
	if _, err := s.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	unread := false
	q := storage.MarkQuery{Read: &unread, ByTime: true, From: start.Add(time.Hour)}
	list := func(index string) (ids []string, plan string) {
		statement, args := listMarked("ann", q, index, false, storage.MarkedItem{}, 15)
		marked, err := readOnce(t.Context(), s.engine, "list", statement, scanMarked, args...)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range marked {
			ids = append(ids, m.ItemID)
		}
		return ids, s.plan(t, statement, args...)
	}
	all, _ := list(listedByArrival)
	var paged []string
	var last storage.MarkedItem
	for {
		page, err := s.ListMarked(t.Context(), "ann", q, last, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			paged = append(paged, m.ItemID)
			last = m
		}
		if len(page) < 3 {
			break
		}
	}
	if !slices.Equal(paged[:min(len(paged), len(all))], all) {
		t.Errorf("got %v in pages, want %v", paged, all)
	}
	for _, q.Oldest = range []bool{false, true} {
		arrival, sorted := list(listedByArrival)
		byTime, walked := list(listedByTime)
		if len(byTime) != 15 || !slices.Equal(arrival, byTime) {
			t.Errorf("got %d and %d items by %s and %s, want the same 15", len(arrival), len(byTime), listedByArrival, listedByTime)
		}
		if !strings.Contains(sorted, "listed_items (first_seen>? AND first_seen<?)") {
			t.Errorf("got the plan\n%s\nwant recent items", sorted)
		}
		if strings.Contains(walked, "ORDER BY") || !strings.Contains(walked, "SEARCH i USING INDEX listed_items_by_time (<expr>") {
			t.Errorf("got the plan\n%s\nwant no sorting", walked)
		}
	}
	if got := listIndex(q); got != listedByTime {
		t.Errorf("got the index %s for all feeds", got)
	}
}

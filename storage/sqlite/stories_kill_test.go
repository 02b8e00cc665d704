package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// storyEvent returns the event of round n, and its stories before and after.
func storyEvent(n int) (event, before, after string) {
	return fmt.Sprint("event-", n), fmt.Sprint("before-", n), fmt.Sprint("after-", n)
}

// roundItems returns the items of a round; the last one is stored after the move.
func roundItems(feedID string, n int) []storage.Item {
	var items []storage.Item
	for i := range 4 {
		item := benchItem(feedID, n*4+i, 200)
		item.EventID, item.StoryID, _ = storyEvent(n)
		items = append(items, item)
	}
	return items
}

// rearrangeForever stores three items of an event, moves the event to another story with a note, and prints
// the number of the round.
func rearrangeForever(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	feedID := storage.FeedID("https://example.org/")
	finished, err := roundsOver(ctx, s)
	if err != nil {
		return err
	}
	for n := finished + 1; ; n++ {
		if _, err := s.PutItems(ctx, storage.Batch{FeedID: feedID, Items: roundItems(feedID, n)[:3]}); err != nil {
			return err
		}
		event, _, after := storyEvent(n)
		r := storage.Rearrangement{Events: []storage.EventMove{{EventID: event, StoryID: after}}, Name: "rounds", Note: fmt.Append(nil, n)}
		if _, err := s.Rearrange(ctx, r); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// roundsOver returns the number of the last finished round.
func roundsOver(ctx context.Context, s *sqlite.Store) (n int, err error) {
	note, err := storage.Notes(s).Read(ctx, "rounds")
	if err == nil && note != nil {
		_, err = fmt.Sscan(string(note), &n)
	}
	return n, err
}

func TestKill_RearrangeIsAtomic(t *testing.T) {
	ctx, path := t.Context(), storePath(t)
	s := open(t, path)
	feedID := addFeed(t, s)
	closeStore(t, s)
	for _, rounds := range []int{1, 30, 100} {
		last := killAfter(t, rearrangerEnv, path, rounds, rand.N(20*time.Millisecond))
		s := open(t, path)
		finished, err := roundsOver(ctx, s)
		if err != nil || finished < last || finished > last+1 {
			t.Fatalf("after round %d: got finished round %d, %v", last, finished, err)
		}
		marked := map[string]bool{}
		dirty, err := s.DirtyStories(ctx, 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, mark := range dirty {
			marked[mark.StoryID] = true
		}
		for n := 1; n <= finished+1; n++ {
			wantRound(t, s, n, n <= finished, marked)
		}
		// A late item joins its event's current story.
		late := roundItems(feedID, finished)[3:]
		if _, err := s.PutItems(ctx, storage.Batch{FeedID: feedID, Items: late}); err != nil {
			t.Fatal(err)
		}
		_, _, after := storyEvent(finished)
		if got, err := storage.ItemByID(ctx, s, late[0].ID); err != nil || got.StoryID != after {
			t.Errorf("a late item belongs to %s, %v; want %s", got.StoryID, err, after)
		}
		closeStore(t, s)
	}
}

// wantRound fails unless all stored items of a round are in the expected story, and that is dirty.
func wantRound(t *testing.T, s *sqlite.Store, n int, moved bool, marked map[string]bool) {
	t.Helper()
	_, before, after := storyEvent(n)
	was, errBefore := storage.ItemsOfStory(t.Context(), s, before, 0)
	is, errAfter := storage.ItemsOfStory(t.Context(), s, after, 0)
	switch {
	case moved && (is.Count != 3 && is.Count != 4 || was.Count != 0 || !marked[before] || !marked[after]):
		t.Errorf("round %d: got %d items moved and %d not, %v, %v, dirty %t and %t", n, is.Count, was.Count, errAfter, errBefore, marked[after], marked[before])
	case !moved && (is.Count != 0 || was.Count != 0 && was.Count != 3 || marked[before] != (was.Count == 3)):
		t.Errorf("unfinished round %d: got %d items moved and %d not, dirty %t", n, is.Count, was.Count, marked[before])
	}
}

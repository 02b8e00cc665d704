package sqlite

import (
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestMigrate_MarksExistingStoriesDirty(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "store.db")
	oldStore(t, path, storage.Item{ID: "a", FeedID: "feed", Key: "a", Hash: "hash", FirstSeen: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	const columns = `feed, hash, revision, first_seen, published, assumed, url, title, author, language, spam, lane, text_hash, duplicate_of, duplicate_by, excerpt, html`
	for _, placed := range [][3]string{{"b", "event-1", "several"}, {"c", "event-2", "several"}, {"d", "event-3", "alone"}, {"e", "", ""}, {"f", "", ""}} {
		_, fault := db.ExecContext(ctx, `INSERT INTO items (id, key, event_id, story_id, `+columns+`) SELECT ?1, ?1, ?2, ?3, `+columns+` FROM items WHERE id = 'a'`,
			placed[0], placed[1], placed[2])
		err = errors.Join(err, fault)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dirty, err := s.DirtyStories(ctx, 10)
	if err != nil || len(dirty) != 1 || dirty[0].StoryID != "several" {
		t.Errorf("got dirty stories %v, %v; want the story with several items", dirty, err)
	}
	changed, err := s.Rearrange(ctx, storage.Rearrangement{Events: []storage.EventMove{{EventID: "event-2", StoryID: "alone"}, {EventID: "event-3", StoryID: "several"}}})
	if err != nil || !slices.Equal(changed, []string{"c", "d"}) {
		t.Errorf("rearranged %v, %v; want c and d", changed, err)
	}
}

func TestRearrange_MovesExpireAfterThirtyDays(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	move := func(event string) {
		t.Helper()
		if _, err := s.Rearrange(ctx, storage.Rearrangement{Events: []storage.EventMove{{EventID: event, StoryID: "story"}}}); err != nil {
			t.Fatal(err)
		}
	}
	for event, age := range map[string]time.Duration{"old": 30*24*time.Hour + time.Minute, "new": 30*24*time.Hour - time.Minute} {
		move(event)
		if _, err := s.write.conn.ExecContext(ctx, `UPDATE moved_events SET at = ? WHERE event_id = ?`, micros(time.Now().Add(-age)), event); err != nil {
			t.Fatal(err)
		}
	}
	move("now")
	left, err := collect(ctx, s.write, storiesOfMoved, scanPair, `["old", "new", "now", "never"]`)
	if want := [][2]string{{"new", "story"}, {"now", "story"}}; err != nil || !slices.Equal(left, want) {
		t.Errorf("the moves left are %v, %v; want %v", left, err, want)
	}
}

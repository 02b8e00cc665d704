package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"

	"feedmesh/storage"
)

func TestStamps_ReadOnlyIndexes(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for statement, args := range map[string][]any{countByDay: nil, stampsOfDay: {0, "", 10}} {
		plan := s.plan(t, statement, args...)
		for step := range strings.Lines(plan) {
			reads := strings.HasPrefix(step, "SEARCH i") || strings.HasPrefix(step, "SCAN i")
			if reads && (!strings.Contains(step, "SEARCH") || !strings.Contains(step, "USING COVERING INDEX items_by_lane")) {
				t.Errorf("the plan of %s is\n%s\nwant it to look things up in the index alone", statement, plan)
			}
		}
		if !strings.Contains(plan, "items_by_lane (lane=? AND first_seen>? AND first_seen<?)") {
			t.Errorf("the plan of %s is\n%s\nwant it to read a day of each lane", statement, plan)
		}
	}
}

// Cached stamps serve the next page while they are fresh.
func TestStampCache_ServesNextPage(t *testing.T) {
	day, now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Now()
	stamps := []storage.Stamp{{ID: "b"}, {ID: "c"}, {ID: "d"}}
	for name, test := range map[string]struct {
		ahead stampCache
		after string
		limit int
		want  []storage.Stamp
		ok    bool
	}{
		"a page of several":          {stampCache{day, "a", stamps, false, now}, "a", 2, stamps[:2], true},
		"all that is left":           {stampCache{day, "a", stamps, false, now}, "a", 3, stamps, true},
		"the end of the day":         {stampCache{day, "a", stamps, true, now}, "a", 4, stamps, true},
		"nothing after the end":      {stampCache{day, "d", nil, true, now}, "d", 4, nil, true},
		"less than a page":           {stampCache{day, "a", stamps, false, now}, "a", 4, nil, false},
		"another place of the day":   {stampCache{day, "a", stamps, true, now}, "b", 2, nil, false},
		"the same place another day": {stampCache{day.Add(24 * time.Hour), "a", stamps, true, now}, "a", 2, nil, false},
		"read long ago":              {stampCache{day, "a", stamps, true, now.Add(-2 * stampCacheMaxAge)}, "a", 2, nil, false},
	} {
		page, ok := test.ahead.take(day, test.after, test.limit)
		if !slices.Equal(page, test.want) || ok != test.ok {
			t.Errorf("%s: got %v, %v; want %v, %v", name, page, ok, test.want, test.ok)
		}
		if ok && len(page) > 0 && test.ahead.after != page[len(page)-1].ID {
			t.Errorf("%s: the next page follows %q, want the last of this one", name, test.ahead.after)
		}
	}
}

// oldStore creates a store of schema version 1 that contains an item.
func oldStore(t *testing.T, path string, item storage.Item) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	step, err := schema.ReadFile("schema/0001_start.sql")
	if err != nil {
		t.Fatal(err)
	}
	run := func(statement string, args ...any) {
		t.Helper()
		_, fault := db.ExecContext(t.Context(), statement, args...)
		err = errors.Join(err, fault)
	}
	run(string(step))
	run(`PRAGMA application_id = 0x66656564`)
	run(`PRAGMA user_version = 1`)
	run(`INSERT INTO feeds (num, id, url, title, site, language, added, items) VALUES (1, ?, 'https://example.org/', '', '', '', 0, 1)`, item.FeedID)
	run(`INSERT INTO items (feed, key, hash, revision, first_seen, published, assumed, id, url, title, author, language, spam,
			lane, text_hash, event_id, story_id, duplicate_of, duplicate_by, excerpt, html)
		VALUES (1, ?, ?, 1, ?, 0, '', ?, '', '', '', '', 0, '', '', '', '', 'gone', 'url', '', '')`,
		item.Key, item.Hash, micros(item.FirstSeen), item.ID)
	if err != nil {
		t.Fatal(err)
	}
}

func TestListSpam_PagesReadOnlyTheirRows(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for statement, test := range map[string]struct {
		index string
		args  []any
	}{
		newestSpam:        {"spam_by_judged (judged<?)", []any{1, "a", 10}},
		newestSpamOf:      {"spam_by_feed (feed=? AND judged<?)", []any{1, "a", 10, "feed"}},
		correctionsByTime: {"corrections_by_time ((at,item_id)>(?,?))", []any{1, "a", 10}},
	} {
		if all := s.plan(t, statement, test.args...); !strings.Contains(all, test.index) || strings.Contains(all, "TEMP B-TREE") || strings.Contains(all, "SCAN") {
			t.Errorf("the plan of %s is\n%s\nwant it to use %s, in its order", statement, all, test.index)
		}
	}
}

func TestMigrate_ChangedDefaultsToFirstSeen(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "store.db")
	item := storage.Item{ID: "item", FeedID: "feed", Key: "key", Hash: "hash", FirstSeen: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	oldStore(t, path, item)
	s, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stamps := func() []storage.Stamp {
		t.Helper()
		list, err := s.Stamps(ctx, storage.Day(item.FirstSeen), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if days, err := s.Days(ctx); err != nil || !maps.Equal(days, map[time.Time]int64{storage.Day(item.FirstSeen): 1}) {
		t.Errorf("got items by day %v, %v; want one", days, err)
	}
	if got, want := stamps(), []storage.Stamp{{ID: "item", Changed: item.FirstSeen}}; !slices.Equal(got, want) {
		t.Errorf("the stamps are %v, want %v", got, want)
	}
	if got, err := storage.ItemByID(ctx, s, "item"); err != nil || !got.Changed.Equal(item.FirstSeen) {
		t.Errorf("the item changed at %v, %v; want %v", got.Changed, err, item.FirstSeen)
	}
	item.Hash = "another"
	if _, err := s.PutItems(ctx, storage.Batch{FeedID: "feed", Items: []storage.Item{item}}); err != nil {
		t.Fatal(err)
	}
	if got := stamps(); len(got) != 1 || time.Since(got[0].Changed) > time.Minute {
		t.Errorf("got stamps %v after a new revision, want a current one", got)
	}
}

func TestMigrate_FirstVersionGetsSettings(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	item := storage.Item{ID: storage.ItemID("feed", "key"), FeedID: "feed", Key: "key", Hash: "hash", FirstSeen: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	oldStore(t, path, item)
	s, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.SetFeed(ctx, "feed", storage.Settings{Tags: []string{"tag"}, Pinned: true}); err != nil || !got.Pinned || got.URL != "https://example.org/" || got.Items != 1 {
		t.Errorf("the feed is %+v, %v; want it as it was, and pinned", got, err)
	}
	const url = "https://example.org/moved"
	if _, err := s.MoveFeed(ctx, "feed", url); err != nil {
		t.Fatal(err)
	}
	to := storage.FeedID(url)
	if got, err := storage.ItemByID(ctx, s, storage.ItemID(to, "key")); err != nil || got.Hash != "hash" || got.FeedID != to || !got.FirstSeen.Equal(item.FirstSeen) {
		t.Errorf("the moved item is %+v, %v", got, err)
	}
}

func TestMigrate_ListsExistingSpam(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	item := storage.Item{ID: "item", FeedID: "feed", Key: "key", Hash: "hash", FirstSeen: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	oldStore(t, path, item)
	db, err := sql.Open("sqlite3", path)
	if err == nil {
		_, err = db.ExecContext(ctx, `UPDATE items SET spam = 1, why = '["because"]'`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	page, _, err := s.ListSpam(ctx, storage.SpamQuery{FeedID: "feed"}, storage.SpamItem{}, 10)
	if err != nil || len(page) != 1 || page[0].ID != "item" || !page[0].Judged.Equal(item.FirstSeen) || len(page[0].Reasons) != 1 {
		t.Fatalf("the spam is %+v, %v; want the item, judged when first seen", page, err)
	}
	if changed, err := s.Relabel(ctx, "", storage.Labels{ItemID: "item"}); err != nil || len(changed) != 1 {
		t.Errorf("relabelled %v, %v", changed, err)
	}
	if _, n, err := s.ListSpam(ctx, storage.SpamQuery{}, storage.SpamItem{}, 0); err != nil || n != 0 {
		t.Errorf("%d items are spam, %v; want none", n, err)
	}
}

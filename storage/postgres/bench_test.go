package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
	"feedmesh/storage/indextest"
	"feedmesh/tests/engines"
)

// benchKey is the key of item n of its feed.
func benchKey(n int) string { return fmt.Sprintf("link://example.org/2026/03/%d-a-title", n) }

// benchItem returns item n of the feed, as from a feed with excerpts.
func benchItem(feedID string, n int) storage.Item {
	at := time.UnixMicro(1_772_000_000_000_000 + int64(n)*1_000_000).UTC()
	sentence := fmt.Sprintf("<p>Item %d says something about servers, and then says more of it.</p>", n)
	key := benchKey(n)
	id := storage.ItemID(feedID, key)
	return storage.Item{
		ID: id, FeedID: feedID, Key: key, Hash: id, URL: "https" + key[len("link"):],
		Title: "A title of middle length that says something",
		HTML:  strings.Repeat(sentence, 15), Excerpt: sentence[3 : len(sentence)-4],
		Author: "Ann Author", Language: "en", Tags: []string{"servers", "software"},
		Published: at, FirstSeen: at, Categories: []string{"software"}, Reasons: []string{`software: "servers" in the title`},
		Partition: "en", TextHash: id, EventID: storage.EventID(id), StoryID: storage.StoryID(storage.EventID(id)),
	}
}

func benchBatch(feedID string, from, n int) storage.Batch {
	b := storage.Batch{FeedID: feedID}
	for i := range n {
		b.Items = append(b.Items, benchItem(feedID, from+i))
	}
	return b
}

// benchFeeds is the number of feeds of a large store.
const benchFeeds = 10_000

func benchURL(n int) string { return fmt.Sprintf("https://%06d.example/feed", n) }

// grow inserts rows, bypassing the store, until it contains so many items: one each second, of all feeds in
// turn, every tenth in Russian.
func grow(b *testing.B, s *Store, from, to int) {
	b.Helper()
	if from == 0 {
		feeds := make([]storage.Feed, benchFeeds)
		for n := range feeds {
			feeds[n] = storage.Feed{ID: storage.FeedID(benchURL(n)), URL: benchURL(n), Added: time.Now()}
		}
		if _, err := s.AddFeeds(b.Context(), feeds...); err != nil {
			b.Fatal(err)
		}
	}
	conn, err := s.pool.Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Release()
	// Base32 as in storage.ItemID: 26 digits; the last is one of eight.
	for _, statement := range []string{
		`SET statement_timeout = 0`,
		fmt.Sprintf(`
			INSERT INTO items (feed, changed, id, key, hash, revision, first_seen, published, assumed,
				url, title, author, language, spam, lane, text_hash, event_id, story_id, duplicate_of, duplicate_by,
				tags, categories, why, excerpt, html)
			SELECT 1 + n %% %d, at, id, 'link://example.org/' || n, id, 1, at, at, '',
				'https://example.org/' || n, 'A title of middle length that says something', 'Ann Author', 'en', false,
				CASE WHEN n %% 10 = 0 THEN 'ru' ELSE 'en' END, id, id, id, CASE WHEN n %% 10 = 1 THEN id ELSE '' END, '',
				'["servers", "software"]', '["software"]', '["software: \"servers\" in the title"]', repeat(md5(id), 5), repeat(md5(id), 30)
			FROM generate_series(%d, %d) n,
				LATERAL (SELECT timestamptz '2020-01-01 UTC' + n * interval '1 second') t (at),
				LATERAL (SELECT translate(encode(sha256(n::text::bytea), 'base64'), '+/=ABCDEFGHIJKLMNOPQRSTUVWXYZ0189', '234567abcdefghijklmnopqrstuvwxyzabcd')) h (text),
				LATERAL (SELECT substr(text, 1, 26)) i (id)`, benchFeeds, from, to-1),
		`VACUUM ANALYZE items`, `ANALYZE feeds`,
	} {
		if _, err := conn.Exec(b.Context(), statement); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFlat measures calls on a store, then again with ten times as many items. All calls except Days,
// which reads an index of all items, must take equally long.
func BenchmarkFlat(b *testing.B) {
	p := engines.NewPostgres(b)
	s := open(b, emptyDatabase(b, p))
	size := 0
	fresh := 0
	for _, next := range []int{200_000, 2_000_000} {
		grow(b, s, size, next)
		if err := p.Exec(`CHECKPOINT`); err != nil { // or it writes while we measure
			b.Fatal(err)
		}
		size = next
		ids := someIDs(b, s, 20_000)
		some := func(n int) []string {
			from := rand.N(len(ids) - n)
			return ids[from : from+n]
		}
		anyTime := func() time.Time { return time.Date(2020, 1, 1, 0, 0, rand.N(size), 0, time.UTC) }
		feedID := storage.FeedID(benchURL(0))
		for _, call := range []struct {
			name string
			do   func(ctx context.Context) error
		}{
			{"FindFeeds page of 100", func(ctx context.Context) error {
				_, err := s.FindFeeds(ctx, storage.FeedQuery{After: storage.FeedPosition{Text: benchURL(rand.N(benchFeeds)), ID: "~"}, Limit: 100})
				return err
			}},
			{"ItemHashes of 20 keys", func(ctx context.Context) error {
				_, err := read(ctx, s.engine, "read item hashes", pgx.RowToMap, itemHashes, some(20))
				return err
			}},
			{"Items of 100 IDs", func(ctx context.Context) error { _, err := s.Items(ctx, some(100)...); return err }},
			{"ListItems page of 100", func(ctx context.Context) error {
				_, err := s.ListItems(ctx, storage.ItemQuery{Partition: "ru", From: anyTime()}, storage.Item{}, 100)
				return err
			}},
			{"Stamps page of 1000", func(ctx context.Context) error { _, err := s.Stamps(ctx, anyTime(), some(1)[0], 1000); return err }},
			{"PutItems of 20 new", func(ctx context.Context) error {
				fresh += 20
				_, err := s.PutItems(ctx, benchBatch(feedID, fresh, 20))
				return err
			}},
			{"Counts", func(ctx context.Context) error { _, err := s.CountFeeds(ctx, storage.FeedQuery{}); return err }},
			{"Days", func(ctx context.Context) error { _, err := s.Days(ctx); return err }},
		} {
			b.Run(fmt.Sprintf("items=%d/%s", size, call.name), func(b *testing.B) {
				indextest.MeasureTimes(b, func() error { return call.do(b.Context()) })
			})
		}
	}
}

// BenchmarkFeedVersions reads 10,000 feeds with tags and categories, whole and their versions, as the schedule does.
func BenchmarkFeedVersions(b *testing.B) {
	s := open(b, emptyDatabase(b, engines.NewPostgres(b)))
	feeds := make([]storage.Feed, benchFeeds)
	for n := range feeds {
		feeds[n] = storage.Feed{
			ID: storage.FeedID(benchURL(n)), URL: benchURL(n), Title: "A title of middle length", Site: "https://example.org/", Tags: []string{"servers", "software"},
			Categories: map[string]float64{"software": 3, "security": 1}, Added: time.Now(),
		}
	}
	if _, err := s.AddFeeds(b.Context(), feeds...); err != nil {
		b.Fatal(err)
	}
	count := 0
	for name, read := range map[string]func() error{
		"whole": func() error {
			return storage.ForEachFeed(b.Context(), s, func(storage.Feed) error { count++; return nil })
		},
		"versions": func() error {
			return storage.ForEachVersion(b.Context(), s, nil, func(storage.FeedVersion) error { count++; return nil })
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if count = 0; read() != nil || count != benchFeeds {
					b.Fatalf("got %d feeds, want %d", count, benchFeeds)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchFeeds/1e3, "us/feed")
		})
	}
}

// BenchmarkMoveFeed moves 100,000 items to another feed, which is new or contains half of them already.
func BenchmarkMoveFeed(b *testing.B) {
	p := engines.NewPostgres(b)
	for name, there := range map[string]int{"renamed": 0, "half dropped": 50_000} {
		b.Run(name, func(b *testing.B) {
			s := open(b, emptyDatabase(b, p))
			for i, n := range []int{100_000, there} {
				feed := storage.Feed{ID: storage.FeedID(benchURL(i)), URL: benchURL(i)}
				if _, err := s.AddFeeds(b.Context(), feed); err != nil {
					b.Fatal(err)
				}
				for from := 0; from < n; from += 1000 {
					if _, err := s.PutItems(b.Context(), benchBatch(feed.ID, from, 1000)); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ResetTimer()
			for n := range b.N {
				if _, err := s.MoveFeed(b.Context(), storage.FeedID(benchURL(n)), benchURL(n+1)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// someIDs returns IDs of stored items, unordered.
func someIDs(b *testing.B, s *Store, n int) []string {
	b.Helper()
	ids, err := read(b.Context(), s.engine, "draw IDs", pgx.RowTo[string], `
		SELECT id FROM items TABLESAMPLE SYSTEM ((SELECT least(100, 300.0 * $1 / count(*)) FROM items)) ORDER BY random() LIMIT $1`, n)
	if err != nil {
		b.Fatal(err)
	}
	return ids
}

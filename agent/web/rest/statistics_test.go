package rest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
	"feedmesh/subjects"
)

// aWeekOfItems fills a store with the items of the week before now.
func aWeekOfItems(t *testing.T, store storage.Store, n int) {
	t.Helper()
	feed := storage.Feed{ID: storage.FeedID("https://week.example/"), URL: "https://week.example/", Added: now.AddDate(0, 0, -30)}
	if _, err := store.AddFeeds(t.Context(), feed); err != nil {
		t.Fatal(err)
	}
	batch := storage.Batch{FeedID: feed.ID}
	for i := range n {
		key := fmt.Sprint(i)
		it := storage.Item{ID: storage.ItemID(feed.ID, key), FeedID: feed.ID, Key: key, Hash: "1", Title: key, Language: []string{"en", "ru", "de"}[i%3]}
		it.FirstSeen = now.Add(-time.Duration(i*7919%(7*24*60)) * time.Minute)
		it.Published = it.FirstSeen.Add(-time.Duration(i*i%9000) * time.Second)
		if i%5 == 0 {
			it.Published, it.Assumed = it.FirstSeen, "missing"
		}
		it.Spam = i%11 == 0
		it.Categories = [][]string{{"linux"}, {"databases", "linux"}, nil}[i%3]
		if i%4 == 0 {
			it.Sentiment = float64(i%9-4) / 10
		}
		batch.Items = append(batch.Items, it)
	}
	if _, err := store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

func TestStatistics_EqualSQL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	items := 2000
	if testing.Short() {
		items = 300
	}
	aWeekOfItems(t, store, items)
	w := newTestbed(t, func(d *setup) { d.Store = store })
	got := getJSON[wire.Statistics](t, w, "/api/statistics?days=7&zone=Asia/Kathmandu")
	if len(got.Days) != 7 || got.Zone != "Asia/Kathmandu" {
		t.Fatalf("got %d days in %s, want 7 in Asia/Kathmandu", len(got.Days), got.Zone)
	}

	// Kathmandu is 5:45 ahead the whole year, so that SQL can compute its days.
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const moved = `(first_seen / 1000000 + 20700)`
	for i, day := range got.Days {
		var items, spam int64
		row := db.QueryRow(`SELECT count(*), coalesce(sum(spam), 0) FROM items WHERE date(`+moved+`, 'unixepoch') = ?`, day.Day)
		if err := row.Scan(&items, &spam); err != nil || day.Items != items || day.Spam != spam {
			t.Errorf("%s: got %d items, %d spam; SQL returns %d, %d, %v", day.Day, day.Items, day.Spam, items, spam, err)
		}
		if day.Items == 0 && i > 0 {
			t.Errorf("%s has no items: the test shows nothing", day.Day)
		}
		for share, lag := range map[float64]float64{0.5: day.P50, 0.95: day.P95, 0.99: day.P99} {
			var want float64
			row := db.QueryRow(`SELECT coalesce(min(lag), 0) FROM (
				SELECT (first_seen - published) / 1e6 AS lag, cume_dist() OVER (ORDER BY first_seen - published) AS share
				FROM items WHERE date(`+moved+`, 'unixepoch') = ? AND assumed = '') WHERE share >= ?`, day.Day, share)
			if err := row.Scan(&want); err != nil || math.Abs(lag-want) > 1e-6 {
				t.Errorf("%s: got a lag of %v s for %v of all; SQL returns %v, %v", day.Day, lag, share, want, err)
			}
		}
		for name, n := range day.Categories {
			var want int64
			row := db.QueryRow(`SELECT count(*) FROM items, json_each(categories) WHERE date(`+moved+`, 'unixepoch') = ? AND value = ? AND NOT spam`, day.Day, name)
			if err := row.Scan(&want); err != nil || n != want {
				t.Errorf("%s: got %d items of %s; SQL returns %d, %v", day.Day, n, name, want, err)
			}
		}
		var toned int64
		var tone float64
		row = db.QueryRow(`SELECT count(*), coalesce(avg(sentiment), 0) FROM items WHERE date(`+moved+`, 'unixepoch') = ? AND sentiment <> 0`, day.Day)
		if err := row.Scan(&toned, &tone); err != nil || day.WithSentiment != toned || math.Abs(day.MeanSentiment-tone) > 1e-9 {
			t.Errorf("%s: got a sentiment of %v of %d; SQL returns %v of %d, %v", day.Day, day.MeanSentiment, day.WithSentiment, tone, toned, err)
		}
	}
	for weekday := range 7 {
		for hour := range 24 {
			for column, n := range map[string]int64{`first_seen`: got.Seen[weekday][hour], `published`: got.Published[weekday][hour]} {
				var want int64
				row := db.QueryRow(`SELECT count(*) FROM items WHERE strftime('%w %H', `+column+` / 1000000 + 20700, 'unixepoch') = ?
					AND date(`+moved+`, 'unixepoch') >= ? AND (assumed = '' OR ? = 'first_seen')`, fmt.Sprintf("%d %02d", weekday, hour), got.Days[0].Day, column)
				if err := row.Scan(&want); err != nil || n != want {
					t.Errorf("%s on weekday %d at %d: got %d; SQL returns %d, %v", column, weekday, hour, n, want, err)
				}
			}
		}
	}
}

func TestStatistics_FeedsByLastPoll(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for i, s := range []subjects.State{
		{Outcome: subjects.Unchanged, Status: 304}, {Outcome: subjects.Unchanged, Status: 304}, {Outcome: subjects.Unchanged, Status: 200},
		{Outcome: subjects.Stored, Status: 200}, {Outcome: subjects.Failed, Status: 500, Class: "server error", Failures: 1},
	} {
		s.Polled, s.Tier = now, "warm"
		w.Mesh.States[fmt.Sprint("more", i)] = &s
	}
	got := getJSON[wire.Statistics](t, w, "/api/statistics?days=7")
	wantOutcomes := []wire.NamedCount{{Name: "unchanged", Count: 3}, {Name: "failed", Count: 2}, {Name: "gone", Count: 1}, {Name: "stored", Count: 1}}
	if !slices.Equal(got.Outcomes, wantOutcomes) || got.Answers != 5 || got.NotModified != 2 {
		t.Errorf("got %v, %d answers, %d the same; want %v, 5, 2", got.Outcomes, got.Answers, got.NotModified, wantOutcomes)
	}
	if want := []wire.FeedCount{{Name: "hot", Feeds: 1}, {Name: "warm", Feeds: 5}, {Name: "cold", Feeds: 2}}; !slices.Equal(got.Tiers, want) {
		t.Errorf("got tiers %v, want %v", got.Tiers, want)
	}
	if want := []wire.FeedCount{{Name: "dns", Feeds: 1}, {Name: "server error", Feeds: 1}}; !slices.Equal(got.Failures, want) || got.Feeds.Stored != 3 || got.Agents != 1 {
		t.Errorf("got failures %v of %d feeds, %d agents; want %v of 3, 1", got.Failures, got.Feeds.Stored, got.Agents, want)
	}
}

func TestStatistics_CacheAge(t *testing.T) {
	t.Parallel()
	store := &countingStore{}
	at := now
	w := newTestbed(t, func(d *setup) {
		store.Store, d.Store, d.Now = d.Store, store, func() time.Time { return at }
	})
	ask := func(want int, when string) {
		t.Helper()
		store.asked = 0
		a := w.request(t, "GET", "/api/statistics?days=7", "")
		var got wire.Statistics
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || store.asked != want || len(got.Days) != 7 {
			t.Errorf("%s: %d days were counted for %d, %v; want %d", when, store.asked, len(got.Days), err, want)
		}
	}
	ask(7, "at first")
	ask(0, "at once again")
	at = at.Add(service.TodayAge)
	ask(1, "a minute later") // today only
	at = at.Add(service.PastAge)
	ask(7, "much later")
	w.request(t, "GET", "/api/statistics?zone=Mars/Olympus", "").isProblem(t, 422, "time zone")
	w.request(t, "GET", "/api/statistics?zone=Local", "").isProblem(t, 422, "time zone")
	w.request(t, "GET", "/api/statistics?zone=../../etc/passwd", "").isProblem(t, 422, "time zone")
	w.request(t, "GET", "/api/statistics?days=91", "").isProblem(t, 422, "")
}

// A countingStore counts calls of Activity.
type countingStore struct {
	storage.Store
	asked int
}

func (s *countingStore) Activity(ctx context.Context, since, until time.Time, zone *time.Location) (storage.Activity, error) {
	s.asked++
	return s.Store.Activity(ctx, since, until, zone)
}

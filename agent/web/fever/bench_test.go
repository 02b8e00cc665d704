package fever_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/web/fever"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// BenchmarkHandler answers an app over an SQLite file with 200,000 items of 2,000 feeds of the last month, of which it has
// read all but the 5,000 newest. "first" numbers the items of a month.
func BenchmarkHandler(b *testing.B) {
	const feeds, each, unread = 2000, 100, 5000
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	seen := func(n int) time.Time { return noon.Add(-time.Duration(n) * 10 * time.Second) }
	for f := range feeds {
		address := fmt.Sprintf("https://feed%d.example/", f)
		id := storage.FeedID(address)
		if _, err := store.AddFeeds(b.Context(), storage.Feed{ID: id, URL: address, Title: address, Tags: []string{fmt.Sprint("Folder ", f%50)}}); err != nil {
			b.Fatal(err)
		}
		batch := storage.Batch{FeedID: id}
		for i := range each {
			key, at := fmt.Sprint(i), seen(i*feeds+f)
			batch.Items = append(batch.Items, storage.Item{ID: storage.ItemID(id, key), FeedID: id, Key: key, Hash: key, Title: "A title of middle length",
				URL: address + key, HTML: strings.Repeat("<p>It says something of servers.</p>", 30), Published: at, FirstSeen: at})
		}
		if _, err := store.PutItems(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	test := servicetest.New(b, func() time.Time { return noon }, func(d *service.Deps) { d.Store = store })
	client := access.Client{ID: "ann", Scopes: []access.Scope{access.Read}}
	if err := test.Reading.MarkStream(access.With(context.Background(), client), storage.Stream{}, seen(unread)); err != nil {
		b.Fatal(err)
	}
	handler := func() http.Handler {
		return fever.Handler(test.Service, func(*http.Request, string) (access.Client, error) { return client, nil })
	}
	do := func(h http.Handler, query string, members int) error {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/fever/?api&"+query, nil))
		if got := strings.Count(w.Body.String(), ","); w.Code != http.StatusOK || got < members {
			return fmt.Errorf("got %d %.300s", w.Code, w.Body)
		}
		return nil
	}
	begun := time.Now()
	if err := do(handler(), "unread_item_ids", unread); err != nil {
		b.Fatal(err)
	}
	b.Logf("first: %v", time.Since(begun))
	h := handler()
	for name, query := range map[string]string{"unread_item_ids": "unread_item_ids", "items": "items&max_id=0", "feeds": "feeds&groups"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := do(h, query, 50); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("unread_item_ids after an hour", func(b *testing.B) {
		for b.Loop() {
			if err := do(handler(), "unread_item_ids", unread); err != nil {
				b.Fatal(err)
			}
		}
	})
}

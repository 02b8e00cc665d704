package greader

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// BenchmarkSync measures the first synchronization of a client: 100,000 items of 2,000 feeds in an SQLite
// file, IDs in batches of 10,000, items in batches of 250.
func BenchmarkSync(b *testing.B) {
	const feeds, each = 2000, 50
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	for n := range feeds {
		url := fmt.Sprintf("https://feed%d.example/", n)
		id := storage.FeedID(url)
		if _, err := s.AddFeeds(b.Context(), storage.Feed{ID: id, URL: url, Title: url, Tags: []string{fmt.Sprint("folder ", n%50)}}); err != nil {
			b.Fatal(err)
		}
		batch := storage.Batch{FeedID: id}
		for i := range each {
			key, seen := fmt.Sprint(i), now.Add(-time.Duration(n*each+i)*10*time.Second)
			batch.Items = append(batch.Items, storage.Item{ID: storage.ItemID(id, key), FeedID: id, Key: key, Hash: key, Title: "A title of middle length that says something",
				URL: url + key, HTML: strings.Repeat("<p>It says something of servers, and then says more of it.</p>", 30), Published: seen, FirstSeen: seen})
		}
		if _, err := s.PutItems(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	api := Handler(serviceOf(s, &taskLog{}), nil)
	w := &fixture{Server: httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(rw, r.WithContext(access.With(r.Context(), access.Local())))
	}))}
	b.Cleanup(w.Close)
	for b.Loop() {
		var all []string
		for c := ""; ; {
			page := get[ids](b, w, "", idsPath+"user/-/state/com.google/reading-list&n=10000&xt=user/-/state/com.google/read&c="+c, "")
			for _, ref := range page.ItemRefs {
				all = append(all, "i="+ref.ID)
			}
			if c = page.Continuation; c == "" {
				break
			}
		}
		read := 0
		for some := range slices.Chunk(all, 250) {
			read += len(get[contents](b, w, "", "/reader/api/0/stream/items/contents?output=json", strings.Join(some, "&")).Items)
		}
		if read != feeds*each {
			b.Fatalf("%d items are read, want %d", read, feeds*each)
		}
	}
}

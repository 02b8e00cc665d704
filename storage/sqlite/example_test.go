package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// Open a store in a temporary folder, store a batch of one item, and read it.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "feedmesh")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "store.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	url := "https://example.org/feed.xml"
	feed := storage.Feed{ID: storage.FeedID(url), URL: url, Added: time.Now()}
	if _, err := store.AddFeeds(ctx, feed); err != nil {
		log.Fatal(err)
	}
	now := time.Now()
	item := storage.Item{
		ID: storage.ItemID(feed.ID, "entry-1"), FeedID: feed.ID, Key: "entry-1", Hash: "hash-1",
		Title: "Hello", Published: now, FirstSeen: now,
	}
	batch := storage.Batch{FeedID: feed.ID, Title: "Example", Items: []storage.Item{item}}
	stored, err := store.PutItems(ctx, batch)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("new items:", len(stored.New))

	// The same batch again changes nothing, because the item's hash is equal.
	if stored, err = store.PutItems(ctx, batch); err != nil {
		log.Fatal(err)
	}
	fmt.Println("new items:", len(stored.New), "changed items:", len(stored.Changed))

	got, err := storage.ItemByID(ctx, store, item.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(got.Title, "revision", got.Revision)
	// Output:
	// new items: 1
	// new items: 0 changed items: 0
	// Hello revision 1
}

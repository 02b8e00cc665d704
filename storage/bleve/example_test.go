package bleve_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
)

func Example() {
	folder, err := os.MkdirTemp("", "index")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	index, err := bleve.Open(filepath.Join(folder, "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer index.Close()

	ctx, now := context.Background(), time.Unix(1_700_000_000, 0)
	err = index.Put(ctx,
		storage.IndexItem{Item: storage.Item{ID: "1", Title: "Kernel 7.0 released", Published: now, FirstSeen: now}},
		storage.IndexItem{Item: storage.Item{ID: "2", Title: "Rates rise again", Published: now, FirstSeen: now}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	results, err := index.Search(ctx, storage.Query{Where: query.Text{Words: "kernels"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hit := range results.Hits {
		fmt.Println("found item", hit.ID)
	}
	// Output:
	// found item 1
}

package storage_test

import (
	"reflect"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestMergeFeeds_PrefersTarget(t *testing.T) {
	t.Parallel()
	early, late := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	old := storage.Feed{ID: "old", URL: "https://old.example/", Title: "Old", Site: "https://old.example/site", Language: "en",
		Tags: []string{"a", "b"}, Pinned: true, FullText: true, Request: &storage.Request{User: "old"}, Added: early, Items: 3, LastItem: early, Rate: 1,
		SpamThreshold: 0.7, Categories: map[string]float64{"go": 60, "law": 2}}
	feed := storage.Feed{ID: "new", URL: "https://new.example/", Title: "New", Tags: []string{"c", "a"},
		Request: &storage.Request{User: "new"}, Added: late, Items: 7, LastItem: late,
		Categories: map[string]float64{"go": 40, "data": 8}}
	want := storage.Feed{ID: "new", URL: "https://new.example/", Title: "New", Site: "https://old.example/site", Language: "en",
		Tags: []string{"c", "a", "b"}, Pinned: true, FullText: true, Request: feed.Request, Added: early, Items: 7, LastItem: late, Rate: 1,
		SpamThreshold: 0.7, Categories: map[string]float64{"go": 50, "law": 1, "data": 4}}
	if got := storage.MergeFeeds(feed, old); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMergeFeeds_CopiesToNewFeed(t *testing.T) {
	t.Parallel()
	old := storage.Feed{ID: "old", URL: "https://old.example/", Title: "Old", Tags: []string{"a"}, Pinned: true, FullText: true,
		Request: &storage.Request{UserAgent: "Reader"}, Added: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), Rate: 2,
		SpamThreshold: 0.7, Categories: map[string]float64{"go": 1}}
	want := old
	want.ID, want.URL = "new", "https://new.example/"
	if got := storage.MergeFeeds(storage.Feed{ID: "new", URL: "https://new.example/"}, old); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

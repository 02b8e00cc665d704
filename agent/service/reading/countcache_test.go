package reading

import (
	"testing"
	"time"

	"feedmesh/storage"
)

func TestCountCache_RemovesOldCounts(t *testing.T) {
	cache := newCountCache[map[string]storage.UnreadCount]()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	counts := map[string]storage.UnreadCount{"feed": {Count: 1}}
	cache.put("a", counts, now, 0)
	cache.put("b", counts, now.Add(countAge), 0)
	if len(cache.byClient) != 2 {
		t.Fatalf("got %d clients, want both within %v", len(cache.byClient), countAge)
	}
	cache.put("c", counts, now.Add(countAge+time.Second), 0)
	if _, is := cache.byClient["a"]; is || len(cache.byClient) != 2 {
		t.Errorf("got %d clients, want the first removed", len(cache.byClient))
	}
}

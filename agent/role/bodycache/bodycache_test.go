package bodycache

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedmesh/agent/role/crawl/fetch"
)

// filled returns a buffer of the cache with a decompressed text.
func filled(c *Cache, text string) *bytes.Buffer {
	b := c.Reserve()
	b.WriteString(text)
	return b
}

func TestCache_IsDisabledWithoutReader(t *testing.T) {
	var s Cache
	if s.Reserve() != nil {
		t.Error("got a buffer before a reader is registered")
	}
	end := s.AddReader()
	if s.Reserve() == nil {
		t.Error("got no buffer with a reader registered")
	}
	end()
	if s.Reserve() != nil {
		t.Error("got a buffer after the last reader left")
	}
}

func TestCache_IsBounded(t *testing.T) {
	var s Cache
	defer s.AddReader()()
	for i := range 4 * maxBytes / (64 << 10) {
		s.Put(fmt.Sprint(i), filled(&s, strings.Repeat("x", 64<<10)))
	}
	held := 0
	for _, one := range s.entries {
		held += one.body.Cap() + entryOverhead
	}
	if held != s.size || held > maxBytes || held < maxBytes/2 {
		t.Errorf("got %d cached bytes, counted %d, want at most %d", held, s.size, maxBytes)
	}
	if s.Take("0") == nil {
		t.Error("got the oldest entry evicted, want new ones rejected")
	}
	s.Put("large", filled(&s, strings.Repeat("x", 3*fetch.MaxBuffered)))
	if s.Take("large") != nil {
		t.Error("got an oversized document in the cache")
	}
	if b := s.Buffer(); b.Cap() > maxPooled {
		t.Errorf("got a pooled buffer of %d bytes, want it discarded", b.Cap())
	}
}

func TestCache_EntriesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Cache
		defer s.AddReader()()
		s.Put("old", filled(&s, "of another agent's task"))
		time.Sleep(maxAge - time.Second)
		s.Put("young", filled(&s, "a moment ago"))
		time.Sleep(2 * time.Second)
		s.Put("new", filled(&s, "now"))
		for hash, want := range map[string]bool{"old": false, "young": true, "new": true} {
			if got := s.Take(hash) != nil; got != want {
				t.Errorf("%s: got cached %v, want %v", hash, got, want)
			}
		}
		if s.size != 0 {
			t.Errorf("got %d bytes in the empty cache, want 0", s.size)
		}
	})
}

package spam

import (
	"container/list"
	"sync"
	"time"
	"unsafe"
)

const (
	itemsPerSource = 32             // items stored for each feed and each host
	itemsGrowth    = 4              // growth of a source's slice, in items
	floodTime      = 24 * time.Hour // window in which copies count

	// DefaultCacheBytes is sufficient for at least 11,000 feeds and hosts: those of 50,000 feeds that publish
	// within an hour or two.
	DefaultCacheBytes = 21 << 20
)

// A HistoryCache stores sketches of the last items of feeds and hosts, to detect templates and floods. It is
// a bounded LRU cache, safe for concurrent use. It is empty after a restart, which is acceptable because a
// [History] alone never makes an item spam.
type HistoryCache struct {
	mu         sync.Mutex
	maxSources int // maximum number of feeds and hosts
	sources    map[string]*list.Element
	order      *list.List // of *source, most recently used first
}

// A source is a feed or a host.
type source struct {
	name  string
	items []itemSketch // ring buffer
	next  int
}

// sourceSize estimates the bytes of a source: its sketches, its name and its map entry.
const sourceSize = itemsPerSource*int(unsafe.Sizeof(itemSketch{})) + 400

// NewHistoryCache returns a cache of at most the given size in bytes. The least recently used feeds and hosts
// are evicted first.
func NewHistoryCache(bytes int) *HistoryCache {
	return &HistoryCache{maxSources: max(2, bytes/sourceSize), sources: make(map[string]*list.Element), order: list.New()}
}

// A History summarizes the items of a feed and a host before an item. The zero History stands for unknown. It
// never makes an item spam alone: its weight is limited by the other evidence for spam, because release
// notes, aggregators and weekly link lists are similar to one another without being spam.
type History struct {
	Items   int // earlier items of the feed in the cache; at most 32
	Similar int // of these, items with a similar title or text
	Copies  int // items of the host within a day with nearly but not exactly the same text; at most 32
}

// Record adds an item to the cache and returns the history of its feed and host before it. An item that
// arrives again, in another feed or by a retry, counts once. at is the time of arrival.
func (m *HistoryCache) Record(feedID, host, title, text string, at time.Time) History {
	t := newItemSketch(title, text, at)
	m.mu.Lock()
	defer m.mu.Unlock()
	var h History
	if feedID != "" {
		s := m.source("feed " + cutName(feedID))
		for _, before := range s.items {
			if before.exact == t.exact {
				continue
			}
			h.Items++
			if before.isSimilar(t) {
				h.Similar++
			}
		}
		s.add(t)
	}
	if host != "" {
		s := m.source("host " + cutName(host))
		for _, before := range s.items {
			if before.exact != t.exact && t.at-before.at < int64(floodTime/time.Second) && before.isCopy(t) {
				h.Copies++
			}
		}
		s.add(t)
	}
	return h
}

// cutName bounds the length of a name, which may come from an untrusted source.
func cutName(name string) string { return name[:min(len(name), 200)] }

// source returns the source with the given name. If it is new, the least recently used sources are evicted to
// make room.
func (m *HistoryCache) source(name string) *source {
	if e, ok := m.sources[name]; ok {
		m.order.MoveToFront(e)
		return e.Value.(*source)
	}
	for len(m.sources) >= m.maxSources {
		last := m.order.Back()
		delete(m.sources, last.Value.(*source).name)
		m.order.Remove(last)
	}
	s := &source{name: name}
	m.sources[name] = m.order.PushFront(s)
	return s
}

func (s *source) add(t itemSketch) {
	for i := range s.items {
		if s.items[i].exact == t.exact {
			return
		}
	}
	if len(s.items) < itemsPerSource {
		if len(s.items) == cap(s.items) { // small steps, because most feeds have fewer items than the limit
			s.items = append(make([]itemSketch, 0, len(s.items)+itemsGrowth), s.items...)
		}
		s.items = append(s.items, t)
		return
	}
	s.items[s.next] = t
	s.next = (s.next + 1) % itemsPerSource
}

const (
	templateItems = 8 // of a feed, from which its history counts
	templateShare = 0.5
	floodCopies   = 4
)

// scoreHistory scores the history of feed and host: at most as much as the other evidence for spam, learned
// words excluded.
func scoreHistory(s *scorer, h History) {
	if s.subtotal <= 0 {
		return
	}
	limited := func(w weight) float64 { return min(1, s.subtotal/max(0.001, s.filter.weights[w])) }
	if h.Items >= templateItems && float64(h.Similar) >= templateShare*float64(h.Items) {
		s.addSignal(template, limited(template), "like most items of this feed")
	}
	if h.Copies >= floodCopies {
		s.addSignal(flood, limited(flood), "like other items of its host today")
	}
}

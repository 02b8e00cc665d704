package near

import "time"

// Exact finds duplicates by equal address or text. Answers depend on the order of signatures only, so equal
// sequences get equal answers. It has a single owner: its methods must not be called concurrently.
type Exact struct {
	window time.Duration
	max    int

	newest     time.Time
	items      map[string]*exactItem // by item ID
	urls       map[string]*exactItem // by URL key: the first item with it
	texts      map[string]*exactItem // by text hash: the first item with it
	duplicates map[string]int        // by ID of an original, which may be evicted: number of its stored duplicates
	queue      []*exactItem          // oldest first, from head on
	head       int
}

// exactItem is a stored item.
type exactItem struct {
	Signature
	Match
	shared bool // its feed has other texts at this address, so the address proves nothing
}

// original returns the item ID of p's original, which may be p itself.
func (p *exactItem) original() string {
	if p.DuplicateOf != "" {
		return p.DuplicateOf
	}
	return p.ItemID
}

// NewExact returns an Exact that evicts items seen more than window before the newest signature, and the
// oldest items beyond max. It panics if max < 1.
func NewExact(window time.Duration, max int) *Exact {
	if max < 1 {
		panic("near: NewExact needs room for an item")
	}
	return &Exact{
		window: window, max: max,
		items: make(map[string]*exactItem), urls: make(map[string]*exactItem), texts: make(map[string]*exactItem),
		duplicates: make(map[string]int),
	}
}

// Len returns the number of stored items.
func (e *Exact) Len() int { return len(e.items) }

// Place stores m and returns the item that it duplicates. An item that is still stored gets its earlier
// match. O(1).
//
// Items are duplicates if their words are equal, or if two feeds give them the same address. An address
// shared within one feed is not enough: in some feeds all entries link to one page.
func (e *Exact) Place(m Signature) Match {
	if p, ok := e.items[m.ItemID]; ok {
		return p.Match
	}
	e.evict(m.Seen)
	placed := e.find(m)
	if e.duplicates[m.ItemID] > 0 {
		placed = Match{} // it was evicted, but its duplicates were not
	}
	e.Restore(m, placed)
	return placed
}

// Restore stores an item with the match of an earlier Place, by this Exact or by its predecessor, without
// another search.
func (e *Exact) Restore(m Signature, match Match) {
	e.evict(m.Seen)
	if p, ok := e.urls[m.URLKey]; ok && p.FeedID == m.FeedID && p.ItemID != m.ItemID && match.By != "text" {
		p.shared = true
	}
	m.Sketch = nil
	if match.DuplicateOf != "" {
		e.duplicates[match.DuplicateOf]++
	}
	p := &exactItem{Signature: m, Match: match}
	e.items[m.ItemID] = p
	e.queue = append(e.queue, p)
	remember(e.urls, m.URLKey, p)
	remember(e.texts, m.TextHash, p)
}

func (e *Exact) find(m Signature) Match {
	if p, ok := e.texts[m.TextHash]; ok {
		return Match{DuplicateOf: p.original(), By: "text"}
	}
	p, ok := e.urls[m.URLKey]
	switch {
	case !ok:
		return Match{}
	case p.FeedID == m.FeedID:
		p.shared = true
		return Match{}
	case p.shared:
		return Match{}
	}
	return Match{DuplicateOf: p.original(), By: "url"}
}

func remember(by map[string]*exactItem, key string, p *exactItem) {
	if _, ok := by[key]; !ok && key != "" {
		by[key] = p
	}
}

// evict removes items that are outside the window of an item seen then, and the oldest item if the index is
// full.
func (e *Exact) evict(seen time.Time) {
	if seen.After(e.newest) {
		e.newest = seen
	}
	for e.head < len(e.queue) {
		p := e.queue[e.head]
		if len(e.items) < e.max && e.newest.Sub(p.Seen) <= e.window {
			break
		}
		e.queue[e.head] = nil
		e.head++
		delete(e.items, p.ItemID)
		if e.duplicates[p.DuplicateOf]--; e.duplicates[p.DuplicateOf] <= 0 {
			delete(e.duplicates, p.DuplicateOf)
		}
		if e.urls[p.URLKey] == p {
			delete(e.urls, p.URLKey)
		}
		if e.texts[p.TextHash] == p {
			delete(e.texts, p.TextHash)
		}
	}
	if e.head > 1024 && e.head > len(e.queue)/2 {
		e.queue = append(e.queue[:0:0], e.queue[e.head:]...)
		e.head = 0
	}
}

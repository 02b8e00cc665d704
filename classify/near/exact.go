package near

import "time"

// A Mark is what tells whether an item repeats another one.
type Mark struct {
	ItemID   string
	FeedID   string
	URLKey   string // [URLKey] of its address; may be empty
	TextHash string // [TextHash] of its words; may be empty
	Seen     time.Time
	Sketch   *Sketch // of its words; may be nil. An [Exact] has no use for it.
}

// Placed says which item another one repeats. It names the first of its kind
// only: IDs of events are for the caller to derive from that.
type Placed struct {
	Of string // item ID of the first of its kind; empty for that one
	// By says what they share: "text", "url", "title" or "body", or that a person
	// said so: "hand". Empty if Of is, unless a person said that too.
	By    string
	Score float64 // how much of it, 0 to 1
	Why   string  // that in words, for people
}

// Exact remembers who was the first with an address or a text. It answers by
// the order in which marks come, so equal sequences get equal answers. It has a
// single owner: its methods must not be called concurrently.
type Exact struct {
	window time.Duration
	max    int

	newest  time.Time
	items   map[string]*placed // by item ID
	urls    map[string]*placed // by URL key: the first with it
	texts   map[string]*placed // by text hash: the first with it
	repeats map[string]int     // by its ID: how many items repeat one that may be forgotten
	queue   []*placed          // oldest first, from head on
	head    int
}

// placed is an item we remember.
type placed struct {
	Mark
	Placed
	shared bool // its feed has other texts at this address, so that says nothing
}

// first returns the item ID of the first of p's kind.
func (p *placed) first() string {
	if p.Of != "" {
		return p.Of
	}
	return p.ItemID
}

// NewExact returns an Exact that forgets what was seen longer than window
// before the newest mark, and the oldest of more than max items. It panics if
// max < 1.
func NewExact(window time.Duration, max int) *Exact {
	if max < 1 {
		panic("near: NewExact needs room for an item")
	}
	return &Exact{
		window: window, max: max,
		items: make(map[string]*placed), urls: make(map[string]*placed), texts: make(map[string]*placed),
		repeats: make(map[string]int),
	}
}

// Len returns how many items are remembered.
func (e *Exact) Len() int { return len(e.items) }

// Place says which item m repeats, and remembers m. An item that is still
// remembered gets the answer that it got before. O(1).
//
// Items repeat one another if their words are the same, or if two feeds give
// them the same address. Within one feed the same address is not enough:
// there are feeds whose entries all lead to one page.
func (e *Exact) Place(m Mark) Placed {
	if p, ok := e.items[m.ItemID]; ok {
		return p.Placed
	}
	e.makeRoom(m.Seen)
	placed := e.find(m)
	if e.repeats[m.ItemID] > 0 {
		placed = Placed{} // it was forgotten, and what repeats it was not
	}
	e.Remember(m, placed)
	return placed
}

// Remember takes back what was placed before, by this Exact or the one whose
// place it takes, without a second thought.
func (e *Exact) Remember(m Mark, as Placed) {
	e.makeRoom(m.Seen)
	if p, ok := e.urls[m.URLKey]; ok && p.FeedID == m.FeedID && p.ItemID != m.ItemID && as.By != "text" {
		p.shared = true
	}
	m.Sketch = nil
	if as.Of != "" {
		e.repeats[as.Of]++
	}
	p := &placed{Mark: m, Placed: as}
	e.items[m.ItemID] = p
	e.queue = append(e.queue, p)
	remember(e.urls, m.URLKey, p)
	remember(e.texts, m.TextHash, p)
}

func (e *Exact) find(m Mark) Placed {
	if p, ok := e.texts[m.TextHash]; ok {
		return Placed{Of: p.first(), By: "text"}
	}
	p, ok := e.urls[m.URLKey]
	switch {
	case !ok:
		return Placed{}
	case p.FeedID == m.FeedID:
		p.shared = true
		return Placed{}
	case p.shared:
		return Placed{}
	}
	return Placed{Of: p.first(), By: "url"}
}

func remember(by map[string]*placed, key string, p *placed) {
	if _, ok := by[key]; !ok && key != "" {
		by[key] = p
	}
}

// makeRoom forgets what is too old beside an item seen then, and what is too
// many with it.
func (e *Exact) makeRoom(seen time.Time) {
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
		if e.repeats[p.Of]--; e.repeats[p.Of] <= 0 {
			delete(e.repeats, p.Of)
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

package near

import (
	"slices"
	"time"
)

// An Index remembers items and says which of them a new one repeats: by address,
// by text, by title or by body. It answers by the order in which marks come, so
// equal sequences get equal answers. It has a single owner: its methods must not
// be called concurrently.
type Index struct {
	settings Settings
	newest   time.Time
	items    ring[entry] // oldest first
	texts    [][]byte    // of the items, a buffer for each block of them
	keys     *chains     // of an item: hashes of ID, address, text and title
	titles   *chains     // bands of the titles that are posted
	titled   ring[uint32]
	bodies   *chains // shingles of the bodies that are posted
	bodied   ring[posting]
	number   uint32 // of the oldest item
	body     uint32 // of the oldest posting
	hand     hands
	repeats  map[uint64]int // by the hash of its ID: how many items repeat one that may be forgotten

	set    gramSet
	tally  tally
	search search
}

// A posting is a body that others are compared with.
type posting struct {
	Body
	item uint32 // its number
}

// The kinds of keys of an item.
const (
	keyID = iota
	keyURL
	keyText
	keyTitle
	keyKinds
)

// NewIndex returns an empty index. It panics if there is no room for an item, or
// Bands is not a power of two.
func NewIndex(s Settings) *Index {
	if s.Max < 1 || s.Bands < 1 || s.Bands&(s.Bands-1) != 0 || s.Bands*s.Rows > maxMinima {
		panic("near: NewIndex needs room for an item, and a power of two of bands")
	}
	return &Index{settings: s, keys: newChains(keyKinds), titles: newChains(s.Bands), bodies: newChains(2 * postedOf), repeats: make(map[uint64]int)}
}

// Len returns how many items are remembered.
func (x *Index) Len() int { return int(x.items.len) }

// Place says which item m repeats, and remembers m. An item that is still
// remembered gets the answer that it got before. O(candidates).
//
// Items repeat one another if a person said so, if their words are the same, if two
// feeds give them the same address, or if title or body are near enough
// ([Settings]). Of several the nearest counts.
func (x *Index) Place(m Mark) Placed {
	if i, ok := x.find(m.ItemID); ok {
		return x.placed(i)
	}
	x.makeRoom(m.Seen)
	as, sameBody := x.decide(m)
	if as.Of == m.ItemID || as.By != byHand && x.repeats[hash(m.ItemID)] > 0 {
		as = Placed{} // it was forgotten, and what repeats it was not
	}
	x.add(m, as, sameBody)
	return as
}

// Remember takes back what was placed before, by this Index or the one whose place
// it takes, without a second thought: it searches nothing, and costs a tenth of
// what it costs to place. Marks must come in the order in which they were placed,
// and whole, as they were then: the answers to come are those that would have come
// without it. Of a text [Settings.Sketch] reads [MaxText] only, so no more need be
// stored or read; TextHash is of all of it.
func (x *Index) Remember(m Mark, as Placed) {
	if _, ok := x.find(m.ItemID); ok {
		return
	}
	x.makeRoom(m.Seen)
	if i, ok := x.byURL(m.URLKey); ok && as.By != "text" && x.items.at(i).feed == feedHash(m.FeedID) {
		x.items.at(i).shared = true
	}
	x.add(m, as, x.sameBody(m, as))
}

// sameBody reports whether the body of an item that was placed is the same as one
// that is posted: that of what it repeats. Which item it was nearest to when it was
// placed is not known any more, but that one most often.
func (x *Index) sameBody(m Mark, as Placed) bool {
	if as.By == "text" {
		i, ok := x.byText(m.TextHash)
		return ok && x.fresh(i)
	}
	if as.Of == "" || m.Sketch == nil || m.Sketch.Shingles == 0 {
		return false
	}
	i, ok := x.find(as.Of)
	if !ok || !x.items.at(i).bodied || !x.fresh(i) {
		return false
	}
	return m.Sketch.resemblance(x.candidate(i).body) >= identical
}

// decide says which item m repeats, and whether its body is the same as one that
// is posted.
func (x *Index) decide(m Mark) (as Placed, sameBody bool) {
	if of, ok := x.hand.joined(m.ItemID); ok {
		if of = x.firstOf(of); !x.hand.split(m.ItemID, of) {
			return Placed{Of: of, By: byHand, Score: 1, Why: "joined by hand"}, false
		}
	}
	if i, ok := x.byText(m.TextHash); ok && !x.apart(m.ItemID, i) {
		return Placed{Of: x.first(i), By: "text", Score: 1, Why: "the same words"}, x.fresh(i)
	}
	if i, ok := x.byURL(m.URLKey); ok {
		e := x.items.at(i)
		if e.feed == feedHash(m.FeedID) {
			e.shared = true
		} else if !e.shared && !x.apart(m.ItemID, i) {
			return Placed{Of: x.first(i), By: "url", Score: 1, Why: "the same address, in another feed"}, false
		}
	}
	if m.Sketch == nil {
		return Placed{}, false
	}
	return x.nearest(m)
}

// fresh reports whether an item that was posted will be remembered for long
// enough to stand for those that are the same.
func (x *Index) fresh(i uint32) bool {
	return x.newest.Sub(time.Unix(x.items.at(i).seen, 0)) <= x.settings.Window/2 && x.Len()-int(i) <= x.settings.Max/2
}

// nearest returns the item whose title or body is nearest.
func (x *Index) nearest(m Mark) (as Placed, sameBody bool) {
	s := m.Sketch
	feed := feedHash(m.FeedID)
	x.set.fill(s.Title)
	j := judge{Settings: &x.settings, sketch: s, set: &x.set, doubts: x.settings.Doubtful}
	var best Likeness
	var of uint32
	try := func(i uint32, body bool) {
		e := x.items.at(i)
		if !body && !j.near(int(e.grams)) {
			return
		}
		l := j.compare(x.candidate(i), feed != 0 && e.feed == feed, body)
		if l.By == "" || l.Score <= best.Score && best.By != "" || x.apart(m.ItemID, i) || x.clashes(s, i) {
			return
		}
		best, of = l, i
		sameBody = l.Resemblance >= identical && x.fresh(i)
	}
	if i, ok := x.byTitle(s.Title); ok {
		try(i, false)
	}
	if best.Score < 1 {
		x.seek(s)
		for _, m := range x.tally.best(x.settings.Candidates) {
			try(m.item, m.body)
		}
	}
	if best.By == "" {
		return Placed{}, false
	}
	return Placed{Of: x.first(of), By: best.By, Score: float64(float32(best.Score)), Why: best.Why()}, sameBody
}

// identical is the resemblance from which on a body stands for another.
const identical = 0.95

// seek tallies the items that share bands or shingles with a sketch.
func (x *Index) seek(s *Sketch) {
	for _, row := range x.rows(x.titles, s.Bands) {
		x.tally.add(*x.titled.at(row.row)-x.number, false)
	}
	for _, row := range x.rows(x.bodies, s.Sought) {
		x.tally.add(x.bodied.at(row.row).item-x.number, true)
	}
}

// rows returns the rows that have one of the keys, but for keys that a crowd has.
func (x *Index) rows(c *chains, keys []uint32) []hit {
	c.find(&x.search, keys, x.settings.Crowd)
	return slices.DeleteFunc(x.search.hits, func(h hit) bool { return x.search.counts[h.key] > x.settings.Crowd })
}

// clashes reports whether an item has other numbers than the first of i's kind, so
// that no chain of likenesses leads from "Day 2" to "Day 21".
func (x *Index) clashes(s *Sketch, i uint32) bool {
	e := x.items.at(i)
	if e.ofLen == 0 {
		return false
	}
	first, ok := x.find(x.first(i))
	return ok && numbersDiffer(s.Title, x.candidate(first).title)
}

// add remembers an item. What is the same as something that is posted need not be
// posted again: many equal items cost no more than others.
func (x *Index) add(m Mark, as Placed, sameBody bool) {
	e := entry{
		id: hash(m.ItemID), feed: feedHash(m.FeedID), seen: m.Seen.Unix(),
		by: byCode(as.By), score: float32(as.Score),
	}
	keys := make([]uint32, keyKinds)
	keys[keyID] = exactKey(keyID, e.id)
	if m.URLKey != "" {
		e.url = hash(m.URLKey)
		if _, ok := x.byURL(m.URLKey); !ok {
			keys[keyURL] = exactKey(keyURL, e.url)
		}
	}
	if m.TextHash != "" {
		e.text = hash(m.TextHash)
		if _, ok := x.byText(m.TextHash); !ok {
			keys[keyText] = exactKey(keyText, e.text)
		}
	}
	title := ""
	if s := m.Sketch; s != nil {
		title = s.Title
		e.grams, e.stripped = uint8(min(s.Grams, 255)), s.Stripped
		if e.titled = s.Grams > 0 && !x.standsFor(title, as); e.titled {
			keys[keyTitle] = exactKey(keyTitle, hash(title))
			x.titles.add(x.uncrowded(x.titles, s.Bands))
			x.titled.push(x.number + x.items.len)
		}
		if e.bodied = s.Shingles > 0 && !sameBody; e.bodied {
			x.bodies.add(x.uncrowded(x.bodies, s.Posted))
			e.body = x.body + x.bodied.len
			x.bodied.push(posting{s.Body, x.number + x.items.len})
		}
	}
	x.count(as.Of, 1)
	x.keys.add(keys)
	x.write(&e, m.ItemID, as.Of, as.Why, title)
	x.items.push(e)
}

// standsFor reports whether an item that is posted has the title of one that repeats
// another.
func (x *Index) standsFor(title string, as Placed) bool {
	i, ok := x.byTitle(title)
	return ok && as.Of != "" && x.fresh(i)
}

// uncrowded returns the keys, 0 in place of those that a crowd has already.
func (x *Index) uncrowded(c *chains, keys []uint32) []uint32 {
	c.find(&x.search, keys, x.settings.Crowd)
	keys = slices.Clone(keys)
	for i := range keys {
		if x.search.counts[i] > x.settings.Crowd {
			keys[i] = 0
		}
	}
	return keys
}

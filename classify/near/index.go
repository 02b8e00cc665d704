package near

import "slices"

// An Index finds duplicates of new items by address, text, title or body. Answers depend on the order of
// signatures only, so equal sequences get equal answers. It has a single owner: its methods must not be
// called concurrently.
type Index struct {
	window
	overrides overrides

	set    gramSet
	hits   hitCounter
	lookup lookup

	counted *Sketch  // the last sketch whose keys countHits looked up
	common  []uint32 // of its keys, those with more than MaxPostings rows, titles and bodies together
}

// NewIndex returns an empty index. It panics if MaxItems is below 1, if Bands is not a power of two, or if
// Bands * Rows exceeds the bound of 256.
func NewIndex(s Settings) *Index {
	if s.MaxItems < 1 || s.Bands < 1 || s.Bands&(s.Bands-1) != 0 || s.Bands*s.Rows > maxMinima {
		panic("near: NewIndex needs room for an item, and a power of two of bands")
	}
	return &Index{window: newWindow(s)}
}

// Spill makes the index write all but the newest 16,384 items, their texts and their bodies to files, a few megabytes each,
// which newFile opens for it. Keys stay in memory. An index of items with bodies takes 167 instead of 426 bytes an item then,
// measured at 150,000.
func (x *Index) Spill(newFile func() (File, error)) { x.spill.newFile = newFile }

// Spilled returns the number of blocks of about 100 kB in files, and the error of the last write to one: blocks that
// can't be written stay in memory.
func (x *Index) Spilled() (blocks int, failed error) { return x.spill.written, x.spill.writeErr }

// Err returns the first error of reading a file. Answers since then may be wrong: the index must be replaced.
func (x *Index) Err() error { return x.spill.readErr }

// Close closes the files of the index, which must not be used afterwards.
func (x *Index) Close() {
	for i := range x.texts {
		x.spill.evict(&x.texts[i].place)
	}
	x.items.close(&x.spill)
	x.storedBodies.close(&x.spill)
	if x.spill.file != nil {
		x.spill.leave(x.spill.file)
	}
	x.window = window{}
}

// Place stores m and returns the item that it duplicates. An item that is still stored gets its earlier
// match. O(candidates).
//
// Items are duplicates by a person's decision, if their words are equal, if two feeds give them the same
// address, or if title or body are similar enough ([Settings]). The nearest candidate wins.
func (x *Index) Place(m Signature) Match {
	if i, ok := x.find(m.ItemID); ok {
		return x.storedMatch(i)
	}
	x.evict(m.Seen)
	match, sameBody := x.findMatch(m)
	if match.DuplicateOf == m.ItemID || match.By != manual && x.duplicates[hash(m.ItemID)] > 0 {
		match = Match{} // it was evicted, but its duplicates were not
	}
	x.add(m, match, sameBody)
	return match
}

// Restore stores an item with the match of an earlier Place, by this Index or by its predecessor. It does not
// search, and costs a tenth of Place. Items must be restored whole and in their order of placement; later
// answers then equal those of an index that was never restarted. [Settings.Sketch] reads only [MaxText] bytes
// of a text, so no more need be stored or read; TextHash covers the whole text.
func (x *Index) Restore(m Signature, match Match) {
	if _, ok := x.find(m.ItemID); ok {
		return
	}
	x.evict(m.Seen)
	if i, ok := x.byURL(m.URLKey); ok && match.By != "text" && x.entry(i).feed == feedHash(m.FeedID) {
		x.share(i)
	}
	x.add(m, match, x.sameBody(m, match))
}

// sameBody reports whether an indexed body equals the body of a restored item. It compares with the item's
// original only: the nearest item at the time of placement is not stored, but usually was the original.
func (x *Index) sameBody(m Signature, match Match) bool {
	if match.By == "text" {
		i, ok := x.byText(m.TextHash)
		return ok && x.fresh(i)
	}
	if match.DuplicateOf == "" || m.Sketch == nil || m.Sketch.Shingles == 0 {
		return false
	}
	i, ok := x.find(match.DuplicateOf)
	if !ok || !x.entry(i).bodyIndexed || !x.fresh(i) {
		return false
	}
	return m.Sketch.resemblance(x.candidate(i).body) >= identical
}

// findMatch returns the item that m duplicates, and reports whether an indexed body equals m's.
func (x *Index) findMatch(m Signature) (match Match, sameBody bool) {
	if of, ok := x.overrides.joinedTo(m.ItemID); ok {
		if of = x.originalOf(of); !x.overrides.split(m.ItemID, of) {
			return Match{DuplicateOf: of, By: manual, Score: 1, Reason: "joined by hand"}, false
		}
	}
	if i, ok := x.byText(m.TextHash); ok && !x.apart(m.ItemID, i) {
		return Match{DuplicateOf: x.original(i), By: "text", Score: 1, Reason: "same text"}, x.fresh(i)
	}
	if i, ok := x.byURL(m.URLKey); ok {
		e := x.entry(i)
		if e.feed == feedHash(m.FeedID) {
			x.share(i)
		} else if !e.shared && !x.apart(m.ItemID, i) {
			return Match{DuplicateOf: x.original(i), By: "url", Score: 1, Reason: "same address in another feed"}, false
		}
	}
	if m.Sketch == nil {
		return Match{}, false
	}
	return x.nearest(m)
}

// nearest returns the match with the most similar title or body.
func (x *Index) nearest(m Signature) (match Match, sameBody bool) {
	s := m.Sketch
	feed := feedHash(m.FeedID)
	x.set.fill(s.Title)
	j := comparer{Settings: &x.settings, sketch: s, set: &x.set, matricesLeft: x.settings.MaxMatrices, rare: x.words.rare}
	var best Similarity
	var of uint32
	try := func(i uint32, body bool) {
		e := x.entry(i)
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
		x.countHits(s)
		for _, m := range x.hits.best(x.settings.MaxCandidates) {
			try(m.item, m.body)
		}
	}
	if best.By == "" {
		return Match{}, false
	}
	return Match{DuplicateOf: x.original(of), By: best.By, Score: float64(float32(best.Score)), Reason: best.Reason()}, sameBody
}

// identical is the least resemblance at which one indexed body represents another.
const identical = 0.95

// countHits counts the bands and shingles that indexed items share with a sketch.
func (x *Index) countHits(s *Sketch) {
	x.counted, x.common = s, x.common[:0]
	for _, row := range x.rows(x.titles, s.Bands) {
		x.hits.add(*x.titleItems.at(row.row)-x.firstItem, false)
	}
	for _, row := range x.rows(x.bodies, s.QueryKeys) {
		x.hits.add(*x.bodyItems.at(row.row)-x.firstItem, true)
	}
}

// rows returns the rows that have one of the keys. Keys with more than MaxPostings rows are ignored, and added to
// common.
func (x *Index) rows(c *rowIndex, keys []uint32) []hit {
	c.find(&x.lookup, keys, x.settings.MaxPostings)
	x.addCommon(keys)
	return slices.DeleteFunc(x.lookup.hits, func(h hit) bool { return x.lookup.counts[h.key] > x.settings.MaxPostings })
}

// addCommon adds the keys of the last lookup with more than MaxPostings rows to common.
func (x *Index) addCommon(keys []uint32) {
	for i, n := range x.lookup.counts {
		if n > x.settings.MaxPostings {
			x.common = append(x.common, keys[i])
		}
	}
}

// clashes reports whether the numbers in a title differ from those of i's original. It prevents chains of
// matches from "Day 2" to "Day 21".
func (x *Index) clashes(s *Sketch, i uint32) bool {
	e := x.entry(i)
	if e.ofLen == 0 {
		return false
	}
	first, ok := x.find(x.original(i))
	return ok && numbersDiffer(s.Title, x.candidate(first).title)
}

// add stores an item. A title or body that equals an indexed one is not indexed again: many equal items cost
// no more than others.
func (x *Index) add(m Signature, match Match, sameBody bool) {
	e := entry{
		id: hash(m.ItemID), feed: feedHash(m.FeedID), seen: m.Seen.Unix(),
		by: kindCode(match.By), score: float32(match.Score),
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
		if e.titleIndexed = s.Grams > 0 && !x.hasIndexedTitle(title, match); e.titleIndexed {
			keys[keyTitle] = exactKey(keyTitle, hash(title))
			x.titles.add(x.dropCommonKeys(x.titles, s, s.Bands))
			x.titleItems.push(x.firstItem + x.items.len)
			x.words.add(title, 1)
		}
		if e.bodyIndexed = s.Shingles > 0 && !sameBody; e.bodyIndexed {
			x.bodies.add(x.dropCommonKeys(x.bodies, s, s.IndexKeys))
			e.body = x.firstBody + x.storedBodies.len
			x.storedBodies.push(s.Body, &x.spill)
			x.bodyItems.push(x.firstItem + x.items.len)
		}
	}
	x.countDuplicate(match.DuplicateOf, 1)
	x.keys.add(keys)
	x.write(&e, m.ItemID, match.DuplicateOf, match.Reason, title)
	x.items.push(e, &x.spill)
}

// hasIndexedTitle reports whether a fresh indexed item already has the title of a duplicate.
func (x *Index) hasIndexedTitle(title string, match Match) bool {
	i, ok := x.byTitle(title)
	return ok && match.DuplicateOf != "" && x.fresh(i)
}

// dropCommonKeys returns keys of a sketch, with 0 in place of keys that have more than MaxPostings rows. All keys under
// which an item is indexed are among those by which its candidates were looked up, if they were.
func (x *Index) dropCommonKeys(c *rowIndex, s *Sketch, keys []uint32) []uint32 {
	if x.counted != s {
		x.common = x.common[:0]
		c.find(&x.lookup, keys, x.settings.MaxPostings)
		x.addCommon(keys)
	}
	keys = slices.Clone(keys)
	for i, key := range keys {
		if slices.Contains(x.common, key) {
			keys[i] = 0
		}
	}
	return keys
}

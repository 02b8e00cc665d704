package near

import (
	"slices"
	"time"
)

// A window stores the items that new items are compared with, and finds them by their keys.
type window struct {
	settings     Settings
	newest       time.Time
	evicted      int64                 // when the newest item was seen that was evicted because the window was full, in Unix seconds
	items        blocks[entry, *entry] // oldest first
	texts        []textBlock           // strings, one block for each block of items
	spill        spill                 // of older items, texts and bodies
	keys         *rowIndex             // hashes of ID, address, text and title of each item
	titles       *rowIndex             // bands of the indexed titles
	titleItems   ring[uint32]
	words        wordCounts // of the indexed titles
	bodies       *rowIndex  // shingles of the indexed bodies
	bodyItems    ring[uint32]
	storedBodies blocks[Body, *Body] // the indexed bodies
	firstItem    uint32              // number of the oldest item
	firstBody    uint32              // number of the oldest indexed body
	duplicates   map[uint64]int      // by hash of an original's ID, which may be evicted: number of its stored duplicates
}

// newWindow returns an empty window.
func newWindow(s Settings) window {
	return window{settings: s, keys: newRowIndex(keyKinds), titles: newRowIndex(s.Bands), bodies: newRowIndex(2 * indexHashes), duplicates: make(map[uint64]int)}
}

// Len returns the number of stored items.
func (w *window) Len() int { return int(w.items.len) }

// entry returns item i.
func (w *window) entry(i uint32) entry { return *w.items.at(i, &w.spill) }

// share records that the feed of item i has other texts at its address.
func (w *window) share(i uint32) {
	if e := w.entry(i); !e.shared {
		e.shared = true
		w.items.set(i, e, &w.spill)
	}
}

// write stores the strings of the next item. IDs are at most 255 bytes.
func (w *window) write(e *entry, id, of, why, title string) {
	if number := w.firstItem + w.items.len; number%perBlock == 0 || len(w.texts) == 0 {
		if n := len(w.texts); n > 0 {
			w.texts[n-1].bytes = slices.Clone(w.texts[n-1].bytes) // trim spare capacity
		}
		w.texts = append(w.texts, textBlock{})
		if n := len(w.texts) - 1 - residentBlocks; n >= 0 && w.texts[n].file == nil {
			if w.texts[n].place = w.spill.write(w.texts[n].bytes); w.texts[n].file != nil {
				w.texts[n].bytes = nil
			}
		}
	}
	e.write(w.buffer(w.items.len), id, of, why, title)
}

// textAt returns n bytes of the strings of item i from an offset on.
func (w *window) textAt(i uint32, from int, n uint8) string {
	if n == 0 {
		return ""
	}
	at, block := int(w.entry(i).at)+from, w.textBlock(i)
	if block.file == nil {
		return string(block.bytes[at : at+int(n)])
	}
	var buffer [255]byte
	w.spill.read(block.place, at, buffer[:n])
	return string(buffer[:n])
}

// buffer returns the strings of the block of item i, to be changed. It reads them if they are in a file.
func (w *window) buffer(i uint32) *[]byte {
	block := w.textBlock(i)
	if block.file != nil {
		block.bytes = make([]byte, block.size)
		w.spill.read(block.place, 0, block.bytes)
		w.spill.evict(&block.place)
	}
	return &block.bytes
}

// textBlock returns the block that contains the strings of item i.
func (w *window) textBlock(i uint32) *textBlock {
	const blocks = (1 << 32) / perBlock
	return &w.texts[((w.firstItem+i)/perBlock-w.firstItem/perBlock)%blocks]
}

// block calls do with the items whose strings are in the buffer of item i, in order, and their numbers.
func (w *window) block(i uint32, do func(i uint32, e entry)) {
	from := i - min(i, (w.firstItem+i)%perBlock)
	for end := min(w.items.len, i-(w.firstItem+i)%perBlock+perBlock); from < end; from++ {
		do(from, w.entry(from))
	}
}

func (w *window) id(i uint32) string { return w.textAt(i, 0, w.entry(i).idLen) }

// duplicateOf returns the ID of the original that item i duplicates, "" for an original.
func (w *window) duplicateOf(i uint32) string {
	e := w.entry(i)
	return w.textAt(i, int(e.idLen), e.ofLen)
}

// original returns the ID of the original of item i, which may be i itself.
func (w *window) original(i uint32) string {
	if of := w.duplicateOf(i); of != "" {
		return of
	}
	return w.id(i)
}

// storedMatch returns the match that item i received when it was placed.
func (w *window) storedMatch(i uint32) Match {
	e := w.entry(i)
	return Match{
		DuplicateOf: w.duplicateOf(i), By: matchKinds[e.by], Score: float64(e.score),
		Reason: w.textAt(i, int(e.idLen)+int(e.ofLen), e.whyLen),
	}
}

// candidate returns item i for a comparison.
func (w *window) candidate(i uint32) candidate {
	e := w.entry(i)
	c := candidate{
		title: w.textAt(i, int(e.idLen)+int(e.ofLen)+int(e.whyLen), e.titleLen), grams: int(e.grams), stripped: e.stripped,
	}
	if e.bodyIndexed {
		c.body = w.storedBodies.at(e.body-w.firstBody, &w.spill)
	}
	return c
}

// The kinds of keys of an item.
const (
	keyID = iota
	keyURL
	keyText
	keyTitle
	keyKinds
)

// exactKey returns the key of a hash of one kind.
func exactKey(kind int, h uint64) uint32 { return uint32(mix(h+uint64(kind))) | 1 }

// exact returns the newest item with a key for which is returns true.
func (w *window) exact(key uint32, is func(i uint32, e *entry) bool) (found uint32, ok bool) {
	w.keys.each(key, func(i uint32) bool {
		e := w.entry(i)
		found, ok = i, is(i, &e)
		return !ok
	})
	return found, ok
}

func (w *window) find(id string) (uint32, bool) {
	h := hash(id)
	return w.exact(exactKey(keyID, h), func(i uint32, e *entry) bool { return e.id == h && w.id(i) == id })
}

func (w *window) byURL(key string) (uint32, bool) {
	if key == "" {
		return 0, false
	}
	h := hash(key)
	return w.exact(exactKey(keyURL, h), func(_ uint32, e *entry) bool { return e.url == h })
}

func (w *window) byText(key string) (uint32, bool) {
	if key == "" {
		return 0, false
	}
	h := hash(key)
	return w.exact(exactKey(keyText, h), func(_ uint32, e *entry) bool { return e.text == h })
}

// byTitle returns the newest indexed item with a folded title.
func (w *window) byTitle(title string) (uint32, bool) {
	if title == "" {
		return 0, false
	}
	return w.exact(exactKey(keyTitle, hash(title)), func(i uint32, e *entry) bool { return e.titleIndexed && w.candidate(i).title == title })
}

// fresh reports whether an indexed item will stay long enough to represent its copies.
func (w *window) fresh(i uint32) bool {
	return w.newest.Sub(time.Unix(w.entry(i).seen, 0)) <= w.settings.Window/2 && w.Len()-int(i) <= w.settings.MaxItems/2
}

// evict removes items that are older than the window of an item seen then, and the oldest item if the window is
// full.
func (w *window) evict(seen time.Time) {
	if seen.After(w.newest) {
		w.newest = seen
	}
	oldest := w.newest.Add(-w.settings.Window).Unix()
	for w.items.len > 0 && w.entry(0).seen < oldest {
		w.evictOldest()
	}
	for w.Len() >= w.settings.MaxItems {
		w.evicted = max(w.evicted, w.entry(0).seen)
		w.evictOldest()
	}
}

// Span returns the age up to which all items are stored: that of the settings, or less if there were more items than they
// allow.
func (w *window) Span() time.Duration {
	if w.evicted == 0 {
		return w.settings.Window
	}
	return min(w.settings.Window, max(0, w.newest.Sub(time.Unix(w.evicted, 0))))
}

// evictOldest removes the oldest item.
func (w *window) evictOldest() {
	e := w.entry(0)
	w.countDuplicate(w.duplicateOf(0), -1)
	if e.titleIndexed {
		w.words.add(w.candidate(0).title, -1)
		w.titles.evictOldest()
		w.titleItems.pop()
	}
	if e.bodyIndexed {
		w.bodies.evictOldest()
		w.bodyItems.pop()
		w.storedBodies.pop(&w.spill)
		w.firstBody++
	}
	w.keys.evictOldest()
	w.items.pop(&w.spill)
	if w.firstItem++; w.firstItem%perBlock == 0 {
		w.spill.evict(&w.texts[0].place)
		w.texts[0] = textBlock{}
		w.texts = w.texts[1:]
	}
}

// countDuplicate adds change to the number of stored duplicates of an item.
func (w *window) countDuplicate(of string, change int) {
	if of == "" {
		return
	}
	h := hash(of)
	if w.duplicates[h] += change; w.duplicates[h] == 0 {
		delete(w.duplicates, h)
	}
}

// replace replaces the match of item i.
func (w *window) replace(i uint32, match Match) {
	e := w.entry(i)
	id, title := w.id(i), w.candidate(i).title
	w.countDuplicate(w.duplicateOf(i), -1)
	w.countDuplicate(match.DuplicateOf, 1)
	e.write(w.buffer(i), id, match.DuplicateOf, match.Reason, title)
	e.by, e.score = kindCode(match.By), float32(match.Score)
	w.items.set(i, e, &w.spill)
	w.compactTexts(i)
}

// compactTexts rewrites the text buffer of item i if most of it is unused, so that repeated edits cannot
// exhaust memory.
func (w *window) compactTexts(i uint32) {
	used := 0
	w.block(i, func(_ uint32, e entry) { used += e.size() })
	was := w.buffer(i)
	if len(*was) <= 2*used+1<<10 {
		return
	}
	now := make([]byte, 0, used)
	w.block(i, func(i uint32, e entry) {
		at := len(now)
		now = append(now, (*was)[e.at:int(e.at)+e.size()]...)
		e.at = uint32(at)
		w.items.set(i, e, &w.spill)
	})
	*was = now
}

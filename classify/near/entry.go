package near

import (
	"slices"
	"time"
)

// An entry is the stored state of an item beside its keys: 64 bytes without pointers. Its strings are in a
// text buffer.
type entry struct {
	id, url, text             uint64 // hashes
	seen                      int64  // in seconds
	feed                      uint32 // a hash too; 0 if there is no feed
	score                     float32
	at                        uint32 // offset of its strings in the buffer: ID, DuplicateOf, Reason, title
	posting                   uint32 // number of its posting; valid only if bodyIndexed
	idLen, ofLen              uint8
	whyLen, titleLen          uint8
	grams                     uint8
	by                        uint8 // index in matchKinds
	shared                    bool  // its feed has other texts at this address, so the address proves nothing
	stripped                  bool
	titleIndexed, bodyIndexed bool // others can match this title or body
}

// matchKinds are the values of [Match.By].
var matchKinds = [...]string{"", "url", "text", "title", "body", manual}

// manual marks a person's decision. The value is stored.
const manual = "hand"

func kindCode(by string) uint8 {
	for i, b := range matchKinds {
		if b == by {
			return uint8(i)
		}
	}
	return 0
}

// write stores the strings of the next item. IDs are at most 255 bytes.
func (x *Index) write(e *entry, id, of, why, title string) {
	if number := x.firstItem + x.items.len; number%perBlock == 0 || len(x.texts) == 0 {
		if n := len(x.texts); n > 0 {
			x.texts[n-1] = slices.Clone(x.texts[n-1]) // trim spare capacity
		}
		x.texts = append(x.texts, nil)
	}
	e.write(x.buffer(x.items.len), id, of, why, title)
}

// write appends the strings of an entry to a buffer.
func (e *entry) write(buffer *[]byte, id, of, why, title string) {
	e.at = uint32(len(*buffer))
	for _, part := range []struct {
		text string
		len  *uint8
	}{{id, &e.idLen}, {of, &e.ofLen}, {why, &e.whyLen}, {title, &e.titleLen}} {
		text := part.text[:min(len(part.text), 255)]
		*part.len = uint8(len(text))
		*buffer = append(*buffer, text...)
	}
}

// textAt returns n bytes of the strings of item i from an offset on.
func (x *Index) textAt(i uint32, from int, n uint8) string {
	at := int(x.items.at(i).at) + from
	return string((*x.buffer(i))[at : at+int(n)])
}

// buffer returns the text buffer that contains the strings of item i.
func (x *Index) buffer(i uint32) *[]byte {
	const blocks = (1 << 32) / perBlock
	return &x.texts[((x.firstItem+i)/perBlock-x.firstItem/perBlock)%blocks]
}

// size returns the bytes of an item's strings.
func (e *entry) size() int { return int(e.idLen) + int(e.ofLen) + int(e.whyLen) + int(e.titleLen) }

// block calls do with the items whose strings are in the buffer of item i, in order.
func (x *Index) block(i uint32, do func(e *entry)) {
	from := i - min(i, (x.firstItem+i)%perBlock)
	for end := min(x.items.len, i-(x.firstItem+i)%perBlock+perBlock); from < end; from++ {
		do(x.items.at(from))
	}
}

func (x *Index) id(i uint32) string { return x.textAt(i, 0, x.items.at(i).idLen) }

// duplicateOf returns the ID of the original that item i duplicates, "" for an original.
func (x *Index) duplicateOf(i uint32) string {
	e := x.items.at(i)
	return x.textAt(i, int(e.idLen), e.ofLen)
}

// original returns the ID of the original of item i, which may be i itself.
func (x *Index) original(i uint32) string {
	if of := x.duplicateOf(i); of != "" {
		return of
	}
	return x.id(i)
}

// originalOf returns the ID of the original of an item that may be evicted. For an evicted item it follows
// manual joins.
func (x *Index) originalOf(id string) string {
	for range maxJoins {
		if i, ok := x.find(id); ok {
			return x.original(i)
		}
		of, ok := x.overrides.joinedTo(id)
		if !ok {
			break
		}
		id = of
	}
	return id
}

// maxJoins bounds the manual joins of evicted items that are followed.
const maxJoins = 64

// storedMatch returns the match that item i received when it was placed.
func (x *Index) storedMatch(i uint32) Match {
	e := x.items.at(i)
	return Match{
		DuplicateOf: x.duplicateOf(i), By: matchKinds[e.by], Score: float64(e.score),
		Reason: x.textAt(i, int(e.idLen)+int(e.ofLen), e.whyLen),
	}
}

// candidate returns item i for a comparison.
func (x *Index) candidate(i uint32) candidate {
	e := x.items.at(i)
	c := candidate{
		title: x.textAt(i, int(e.idLen)+int(e.ofLen)+int(e.whyLen), e.titleLen), grams: int(e.grams), stripped: e.stripped,
	}
	if e.bodyIndexed {
		c.body = &x.postings.at(e.posting - x.firstPosting).Body
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
func (x *Index) exact(key uint32, is func(i uint32, e *entry) bool) (found uint32, ok bool) {
	x.keys.each(key, func(i uint32) bool {
		found, ok = i, is(i, x.items.at(i))
		return !ok
	})
	return found, ok
}

func (x *Index) find(id string) (uint32, bool) {
	h := hash(id)
	return x.exact(exactKey(keyID, h), func(i uint32, e *entry) bool { return e.id == h && x.id(i) == id })
}

func (x *Index) byURL(key string) (uint32, bool) {
	if key == "" {
		return 0, false
	}
	h := hash(key)
	return x.exact(exactKey(keyURL, h), func(_ uint32, e *entry) bool { return e.url == h })
}

func (x *Index) byText(key string) (uint32, bool) {
	if key == "" {
		return 0, false
	}
	h := hash(key)
	return x.exact(exactKey(keyText, h), func(_ uint32, e *entry) bool { return e.text == h })
}

// byTitle returns the newest indexed item with a folded title.
func (x *Index) byTitle(title string) (uint32, bool) {
	if title == "" {
		return 0, false
	}
	return x.exact(exactKey(keyTitle, hash(title)), func(i uint32, e *entry) bool { return e.titleIndexed && x.candidate(i).title == title })
}

// evict removes items that are outside the window of an item seen then, and the oldest item if the index is
// full.
func (x *Index) evict(seen time.Time) {
	if seen.After(x.newest) {
		x.newest = seen
	}
	oldest := x.newest.Add(-x.settings.Window).Unix()
	for x.items.len > 0 && (x.Len() >= x.settings.MaxItems || x.items.at(0).seen < oldest) {
		x.evictOldest()
	}
}

// evictOldest removes the oldest item.
func (x *Index) evictOldest() {
	e := x.items.at(0)
	x.countDuplicate(x.duplicateOf(0), -1)
	if e.titleIndexed {
		x.titles.evictOldest()
		x.titleItems.pop()
	}
	if e.bodyIndexed {
		x.bodies.evictOldest()
		x.postings.pop()
		x.firstPosting++
	}
	x.keys.evictOldest()
	x.items.pop()
	if x.firstItem++; x.firstItem%perBlock == 0 {
		x.texts[0] = nil
		x.texts = x.texts[1:]
	}
}

// countDuplicate adds change to the number of stored duplicates of an item.
func (x *Index) countDuplicate(of string, change int) {
	if of == "" {
		return
	}
	h := hash(of)
	if x.duplicates[h] += change; x.duplicates[h] == 0 {
		delete(x.duplicates, h)
	}
}

// feedHash returns a hash of a feed's ID, 0 for none.
func feedHash(id string) uint32 {
	if id == "" {
		return 0
	}
	return max(1, uint32(hash(id)))
}

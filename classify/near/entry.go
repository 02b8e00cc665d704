package near

import (
	"slices"
	"time"
)

// An entry is what is remembered of an item beside its keys: 64 bytes, without a
// pointer, and its words.
type entry struct {
	id, url, text    uint64 // hashes
	seen             int64  // in seconds
	feed             uint32 // a hash too; 0 if unknown
	score            float32
	at               uint32 // where its words begin: ID, Of, Why, title
	body             uint32 // number of its posting; only if bodied
	idLen, ofLen     uint8
	whyLen, titleLen uint8
	grams            uint8
	by               uint8 // place in bys
	shared           bool  // its feed has other texts at this address, so that says nothing
	stripped         bool
	titled, bodied   bool // it is posted
}

// bys are the values of [Placed.By].
var bys = [...]string{"", "url", "text", "title", "body", byHand}

// byHand says that a person said so.
const byHand = "hand"

func byCode(by string) uint8 {
	for i, b := range bys {
		if b == by {
			return uint8(i)
		}
	}
	return 0
}

// write keeps the words of the item to come. IDs are at most 255 bytes.
func (x *Index) write(e *entry, id, of, why, title string) {
	if number := x.number + x.items.len; number%perBlock == 0 || len(x.texts) == 0 {
		if n := len(x.texts); n > 0 {
			x.texts[n-1] = slices.Clone(x.texts[n-1]) // without room for more
		}
		x.texts = append(x.texts, nil)
	}
	e.write(x.buffer(x.items.len), id, of, why, title)
}

// write keeps the words in a buffer, behind all others.
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

// words returns the words of item i from a place on.
func (x *Index) words(i uint32, from int, n uint8) string {
	at := int(x.items.at(i).at) + from
	return string((*x.buffer(i))[at : at+int(n)])
}

// buffer returns the one with the words of item i.
func (x *Index) buffer(i uint32) *[]byte {
	const blocks = (1 << 32) / perBlock
	return &x.texts[((x.number+i)/perBlock-x.number/perBlock)%blocks]
}

// size returns how many bytes an item's words take.
func (e *entry) size() int { return int(e.idLen) + int(e.ofLen) + int(e.whyLen) + int(e.titleLen) }

// block calls do with the items whose words are in the buffer of item i, in order.
func (x *Index) block(i uint32, do func(e *entry)) {
	from := i - min(i, (x.number+i)%perBlock)
	for end := min(x.items.len, i-(x.number+i)%perBlock+perBlock); from < end; from++ {
		do(x.items.at(from))
	}
}

func (x *Index) id(i uint32) string { return x.words(i, 0, x.items.at(i).idLen) }

// of returns the first of the kind of item i, "" if that is itself.
func (x *Index) of(i uint32) string {
	e := x.items.at(i)
	return x.words(i, int(e.idLen), e.ofLen)
}

// first returns the first of the kind of item i.
func (x *Index) first(i uint32) string {
	if of := x.of(i); of != "" {
		return of
	}
	return x.id(i)
}

// firstOf returns the first of the kind of an item that may be forgotten: then a
// person may have said what it repeats.
func (x *Index) firstOf(id string) string {
	for range maxJoins {
		if i, ok := x.find(id); ok {
			return x.first(i)
		}
		of, ok := x.hand.joined(id)
		if !ok {
			break
		}
		id = of
	}
	return id
}

// maxJoins is how many joins of forgotten items are followed.
const maxJoins = 64

// placed returns the answer that item i got.
func (x *Index) placed(i uint32) Placed {
	e := x.items.at(i)
	return Placed{
		Of: x.of(i), By: bys[e.by], Score: float64(e.score),
		Why: x.words(i, int(e.idLen)+int(e.ofLen), e.whyLen),
	}
}

// candidate returns item i as something to compare with.
func (x *Index) candidate(i uint32) candidate {
	e := x.items.at(i)
	c := candidate{
		title: x.words(i, int(e.idLen)+int(e.ofLen)+int(e.whyLen), e.titleLen), grams: int(e.grams), stripped: e.stripped,
	}
	if e.bodied {
		c.body = &x.bodied.at(e.body - x.body).Body
	}
	return c
}

// exactKey returns the key of a hash of a kind.
func exactKey(kind int, h uint64) uint32 { return uint32(mix(h+uint64(kind))) | 1 }

// exact returns the newest item that has a key for which is holds.
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

// byTitle returns the newest posted item with a folded title.
func (x *Index) byTitle(title string) (uint32, bool) {
	if title == "" {
		return 0, false
	}
	return x.exact(exactKey(keyTitle, hash(title)), func(i uint32, e *entry) bool { return e.titled && x.candidate(i).title == title })
}

// makeRoom forgets what is too old beside an item seen then, and what is too many
// with it.
func (x *Index) makeRoom(seen time.Time) {
	if seen.After(x.newest) {
		x.newest = seen
	}
	oldest := x.newest.Add(-x.settings.Window).Unix()
	for x.items.len > 0 && (x.Len() >= x.settings.Max || x.items.at(0).seen < oldest) {
		x.forget()
	}
}

// forget forgets the oldest item.
func (x *Index) forget() {
	e := x.items.at(0)
	x.count(x.of(0), -1)
	if e.titled {
		x.titles.forget()
		x.titled.pop()
	}
	if e.bodied {
		x.bodies.forget()
		x.bodied.pop()
		x.body++
	}
	x.keys.forget()
	x.items.pop()
	if x.number++; x.number%perBlock == 0 {
		x.texts[0] = nil
		x.texts = x.texts[1:]
	}
}

// count counts one more item, or one less, that repeats another one.
func (x *Index) count(of string, change int) {
	if of == "" {
		return
	}
	h := hash(of)
	if x.repeats[h] += change; x.repeats[h] == 0 {
		delete(x.repeats, h)
	}
}

// feedHash returns what a feed is told by, 0 for none.
func feedHash(id string) uint32 {
	if id == "" {
		return 0
	}
	return max(1, uint32(hash(id)))
}

package near

import (
	"encoding/binary"
	"math"
)

// An entry is the stored state of an item beside its keys: 64 bytes without pointers. Its strings are in a
// text buffer.
type entry struct {
	id, url, text             uint64 // hashes
	seen                      int64  // in seconds
	feed                      uint32 // a hash too; 0 if there is no feed
	score                     float32
	at                        uint32 // offset of its strings in the buffer: ID, DuplicateOf, Reason, title
	body                      uint32 // number of its body among the indexed ones; valid only if bodyIndexed
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

func (e *entry) encodedSize() int { return 4*8 + 4*4 + 6 + 1 }

func (e *entry) append(to []byte) []byte {
	for _, v := range [...]uint64{e.id, e.url, e.text, uint64(e.seen)} {
		to = binary.LittleEndian.AppendUint64(to, v)
	}
	for _, v := range [...]uint32{e.feed, math.Float32bits(e.score), e.at, e.body} {
		to = binary.LittleEndian.AppendUint32(to, v)
	}
	flags := byte(0)
	for i, set := range [...]bool{e.shared, e.stripped, e.titleIndexed, e.bodyIndexed} {
		if set {
			flags |= 1 << i
		}
	}
	return append(to, e.idLen, e.ofLen, e.whyLen, e.titleLen, e.grams, e.by, flags)
}

func (e *entry) decode(from []byte) {
	long, short, rest := from, from[4*8:], from[4*8+4*4:]
	e.id, e.url, e.text = binary.LittleEndian.Uint64(long), binary.LittleEndian.Uint64(long[8:]), binary.LittleEndian.Uint64(long[16:])
	e.seen = int64(binary.LittleEndian.Uint64(long[24:]))
	e.feed, e.score = binary.LittleEndian.Uint32(short), math.Float32frombits(binary.LittleEndian.Uint32(short[4:]))
	e.at, e.body = binary.LittleEndian.Uint32(short[8:]), binary.LittleEndian.Uint32(short[12:])
	e.idLen, e.ofLen, e.whyLen, e.titleLen, e.grams, e.by = rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]
	e.shared, e.stripped, e.titleIndexed, e.bodyIndexed = rest[6]&1 != 0, rest[6]&2 != 0, rest[6]&4 != 0, rest[6]&8 != 0
}

// size returns the bytes of an item's strings.
func (e *entry) size() int { return int(e.idLen) + int(e.ofLen) + int(e.whyLen) + int(e.titleLen) }

// feedHash returns a hash of a feed's ID, 0 for none.
func feedHash(id string) uint32 {
	if id == "" {
		return 0
	}
	return max(1, uint32(hash(id)))
}

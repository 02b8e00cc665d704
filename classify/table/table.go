// Package table numbers words, and finds the number of a word again. Of the words of
// a text most are in no table, and are to cost next to nothing.
package table

import "hash/maphash"

// A Table numbers different words from 0 on, in the order in which they came. The
// zero Table has none. It takes some 10 bytes a word besides the word itself, and
// no pointers. Words may be found concurrently while none are added. It holds 16
// million words.
type Table struct {
	slots []uint32 // by hash, a power of two: a byte of the hash, then 1 + a number; 0 is none
	ends  []uint32 // of words in text, by number
	text  []byte
}

// seed is one for all tables, so that equal ones are alike. It differs from process
// to process: nobody can write a text whose words have one hash.
var seed = maphash.MakeSeed()

const (
	tag    = 0xFF << 24 // the bits of a slot that are of the hash, which tell most words apart
	number = ^uint32(tag)
)

// Len returns how many words there are.
func (t *Table) Len() int { return len(t.ends) }

// Word returns a word by its number. The caller must not change it.
func (t *Table) Word(n int32) []byte {
	start := uint32(0)
	if n > 0 {
		start = t.ends[n-1]
	}
	return t.text[start:t.ends[n]]
}

// Find returns the number of a word, or -1 if it is not there.
func (t *Table) Find(word string) int32 {
	if len(t.slots) == 0 {
		return -1
	}
	n, _ := find(t, maphash.String(seed, word), word)
	return n
}

// FindBytes is [Table.Find] for a word in bytes.
func (t *Table) FindBytes(word []byte) int32 {
	if len(t.slots) == 0 {
		return -1
	}
	n, _ := find(t, maphash.Bytes(seed, word), word)
	return n
}

// find returns the number of a word, or -1, and its slot or the one where it would
// stand.
func find[T string | []byte](t *Table, hash uint64, word T) (n int32, slot uint64) {
	last := uint64(len(t.slots) - 1)
	for slot = hash & last; ; slot = (slot + 1) & last {
		s := t.slots[slot]
		if s == 0 {
			return -1, slot
		}
		if s&tag == uint32(hash>>32)&tag {
			if n = int32(s&number) - 1; string(t.Word(n)) == string(word) {
				return n, slot
			}
		}
	}
}

// Add adds the word that parts are when they are joined, and returns its number. It
// is new unless it was there before.
func (t *Table) Add(parts ...string) (n int32, isNew bool) {
	if 4*(len(t.ends)+1) > 3*len(t.slots) {
		t.grow()
	}
	start := len(t.text)
	for _, part := range parts {
		t.text = append(t.text, part...)
	}
	word := t.text[start:]
	hash := maphash.Bytes(seed, word)
	n, slot := find(t, hash, word)
	if n >= 0 {
		t.text = t.text[:start]
		return n, false
	}
	n = int32(len(t.ends))
	t.ends = append(t.ends, uint32(len(t.text)))
	t.slots[slot] = uint32(hash>>32)&tag | uint32(n+1)
	return n, true
}

// grow doubles the slots, and at least makes some.
func (t *Table) grow() {
	t.slots = make([]uint32, max(64, 2*len(t.slots)))
	last := uint64(len(t.slots) - 1)
	for n := range t.ends {
		hash := maphash.Bytes(seed, t.Word(int32(n)))
		slot := hash & last
		for t.slots[slot] != 0 {
			slot = (slot + 1) & last
		}
		t.slots[slot] = uint32(hash>>32)&tag | uint32(n+1)
	}
}

// Clear makes the table empty. It keeps its memory for the words to come.
func (t *Table) Clear() {
	clear(t.slots)
	t.ends, t.text = t.ends[:0], t.text[:0]
}

// Fit lets go of memory that is kept for words to come, where none will.
func (t *Table) Fit() {
	t.ends = append(make([]uint32, 0, len(t.ends)), t.ends...)
	t.text = append(make([]byte, 0, len(t.text)), t.text...)
}

// Package table numbers words and finds the number of a word. It is a compact hash table, tuned for lookups
// of words that are not in it: most words of a text.
package table

import "hash/maphash"

// A Table numbers distinct words from 0, in the order of insertion. The zero Table is empty. It uses about 10
// bytes per word beside the word itself, and no pointers. Lookups are safe for concurrent use while no word
// is added. It holds up to 16 million words.
type Table struct {
	slots []uint32 // by hash, a power of two: a byte of the hash, then 1 + a number; 0 is free
	ends  []uint32 // offsets of the words' ends in text, by number
	text  []byte
}

// seed is shared by all tables, so that equal tables are equal in memory. It is random per process, so nobody
// can construct a text whose words collide.
var seed = maphash.MakeSeed()

const (
	tag    = 0xFF << 24 // bits of a slot from the hash, which distinguish most words
	number = ^uint32(tag)
)

// Len returns the number of words.
func (t *Table) Len() int { return len(t.ends) }

// Word returns a word by its number. The caller must not change it.
func (t *Table) Word(n int32) []byte {
	start := uint32(0)
	if n > 0 {
		start = t.ends[n-1]
	}
	return t.text[start:t.ends[n]]
}

// Find returns the number of a word, or -1 if the table does not contain it.
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

// find returns the number of a word, or -1, and its slot or the free slot for it.
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

// Add adds the concatenation of parts as a word, and returns its number. isNew reports whether the word was
// not in the table before.
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

// grow doubles the slots.
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

// Clear removes all words. It keeps the memory for reuse.
func (t *Table) Clear() {
	clear(t.slots)
	t.ends, t.text = t.ends[:0], t.text[:0]
}

// Fit frees spare memory, when no more words will be added.
func (t *Table) Fit() {
	t.ends = append(make([]uint32, 0, len(t.ends)), t.ends...)
	t.text = append(make([]byte, 0, len(t.text)), t.text...)
}

package story

import "math/bits"

// An arena allocates blocks of numbers of many sizes in few large chunks, without pointers,
// since the garbage collector would have to scan millions of slices. Freed blocks are reused for the same
// size. The zero value is empty.
type arena struct {
	chunks [][]uint32
	unused [17 + 8*28]ref // by size class: head of a free list
}

// A ref is the location of a block: chunk number and offset; 0 is nil.
type ref uint32

const (
	chunkBits  = 16
	chunkWords = 1 << chunkBits // of 4 bytes
	firstChunk = 1 << 8         // of the first chunk, which grows to chunkWords
)

// sizeOf returns the size class of n numbers and its capacity: each size up to 16, then eight classes per
// doubling.
func sizeOf(n int) (size, words int) {
	if n <= 16 {
		return n, n
	}
	shift := bits.Len(uint(n-1)) - 4
	eighths := (n-1)>>shift + 1
	return 8*shift + eighths, eighths << shift
}

// at returns a block and the rest of its chunk.
func (r *arena) at(at ref) []uint32 { return r.chunks[at>>chunkBits][at%chunkWords:] }

// take allocates a block of n numbers with arbitrary content. It may move the last chunk: writes through
// earlier slices are lost.
func (r *arena) take(n int) ref {
	size, words := sizeOf(n)
	if at := r.unused[size]; at != 0 {
		r.unused[size] = ref(r.at(at)[0])
		return at
	}
	last := len(r.chunks) - 1
	if last < 0 || len(r.chunks[last])+words > chunkWords {
		r.chunks = append(r.chunks, r.newChunk(words))
		last++
	}
	chunk := r.chunks[last]
	if len(chunk)+words > cap(chunk) {
		chunk = append(make([]uint32, 0, min(chunkWords, 2*(len(chunk)+words))), chunk...)
	}
	r.chunks[last] = chunk[:len(chunk)+words]
	return ref(last<<chunkBits | len(chunk))
}

// newChunk returns a chunk whose first number is reserved. A block larger than a chunk gets a chunk of its
// own.
func (r *arena) newChunk(words int) []uint32 {
	if len(r.chunks) == 0 && words < firstChunk {
		return make([]uint32, 1, firstChunk)
	}
	return make([]uint32, 1, max(chunkWords, words+1))
}

// give frees a block of n numbers.
func (r *arena) give(at ref, n int) {
	if at == 0 {
		return
	}
	size, _ := sizeOf(n)
	r.at(at)[0] = uint32(r.unused[size])
	r.unused[size] = at
}

// A list is a slice of numbers in the arena. The zero list is empty.
type list struct {
	at  ref
	len uint32
}

// list returns the numbers of a list. The slice is valid until the list changes.
func (r *arena) list(l list) []uint32 {
	if l.len == 0 {
		return nil
	}
	return r.at(l.at)[:l.len:l.len]
}

// set replaces the content of a list. numbers may alias it.
func (r *arena) set(l *list, numbers []uint32) {
	was := *l
	if *l = (list{}); len(numbers) > 0 {
		*l = list{r.take(len(numbers)), uint32(len(numbers))}
		copy(r.at(l.at), numbers)
	}
	r.give(was.at, int(was.len))
}

// push appends numbers to a list.
func (r *arena) push(l *list, numbers ...uint32) {
	_, words := sizeOf(int(l.len))
	if len := int(l.len) + len(numbers); len > words {
		grown := r.take(len)
		copy(r.at(grown), r.list(*l))
		r.give(l.at, int(l.len))
		l.at = grown
	}
	copy(r.at(l.at)[l.len:], numbers)
	l.len += uint32(len(numbers))
}

// write stores a string.
func (r *arena) write(text string) ref {
	at := r.take(textWords(len(text)))
	words := r.at(at)
	clear(words[:textWords(len(text))])
	words[0] = uint32(len(text))
	for i := range len(text) {
		words[1+i/4] |= uint32(text[i]) << (i % 4 * 8)
	}
	return at
}

// textWords returns the block size of a string: its length, then four bytes per number.
func textWords(len int) int { return 1 + (len+3)/4 }

// text returns a stored string.
func (r *arena) text(at ref) string {
	words := r.at(at)
	text := make([]byte, words[0])
	for i := range text {
		text[i] = byte(words[1+i/4] >> (i % 4 * 8))
	}
	return string(text)
}

// erase frees a stored string.
func (r *arena) erase(at ref) { r.give(at, textWords(int(r.at(at)[0]))) }

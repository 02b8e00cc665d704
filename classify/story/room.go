package story

import "math/bits"

// A room has blocks of numbers of many sizes in few pieces of memory, without a
// pointer: of millions of slices the garbage collector would have to look at each.
// What a block needs no more the next one of its size gets. The zero room is empty.
type room struct {
	chunks [][]uint32
	unused [17 + 8*28]ref // by size: a block that nobody has, which leads to the next
}

// A ref is where a block is: the number of a chunk, and the place in it; 0 is nowhere.
type ref uint32

const (
	chunkBits  = 16
	chunkWords = 1 << chunkBits // of 4 bytes
	firstChunk = 1 << 8         // of the first chunk, which grows to the size of others
)

// sizeOf returns the least size that n numbers fit in, and how many do: each up to
// 16 is one, and then there are eight to a doubling.
func sizeOf(n int) (size, words int) {
	if n <= 16 {
		return n, n
	}
	shift := bits.Len(uint(n-1)) - 4
	eighths := (n-1)>>shift + 1
	return 8*shift + eighths, eighths << shift
}

// at returns a block, and what comes behind it.
func (r *room) at(at ref) []uint32 { return r.chunks[at>>chunkBits][at%chunkWords:] }

// take returns a block of n numbers, which may be any. Blocks that were looked at
// before may have moved: what is written to them is lost.
func (r *room) take(n int) ref {
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

// newChunk returns a chunk, of which the first number is nobody's. A block of more
// than a chunk gets one of its own.
func (r *room) newChunk(words int) []uint32 {
	if len(r.chunks) == 0 && words < firstChunk {
		return make([]uint32, 1, firstChunk)
	}
	return make([]uint32, 1, max(chunkWords, words+1))
}

// give takes back a block of n numbers.
func (r *room) give(at ref, n int) {
	if at == 0 {
		return
	}
	size, _ := sizeOf(n)
	r.at(at)[0] = uint32(r.unused[size])
	r.unused[size] = at
}

// A list is numbers in a room. The zero list has none.
type list struct {
	at  ref
	len uint32
}

// list returns the numbers of a list, until it is changed.
func (r *room) list(l list) []uint32 {
	if l.len == 0 {
		return nil
	}
	return r.at(l.at)[:l.len:l.len]
}

// set makes a list of numbers, which may be its own.
func (r *room) set(l *list, numbers []uint32) {
	was := *l
	if *l = (list{}); len(numbers) > 0 {
		*l = list{r.take(len(numbers)), uint32(len(numbers))}
		copy(r.at(l.at), numbers)
	}
	r.give(was.at, int(was.len))
}

// push adds numbers behind those of a list.
func (r *room) push(l *list, numbers ...uint32) {
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

// write keeps a text.
func (r *room) write(text string) ref {
	at := r.take(textWords(len(text)))
	words := r.at(at)
	clear(words[:textWords(len(text))])
	words[0] = uint32(len(text))
	for i := range len(text) {
		words[1+i/4] |= uint32(text[i]) << (i % 4 * 8)
	}
	return at
}

// textWords returns how many numbers a text takes: its length, and four bytes each.
func textWords(len int) int { return 1 + (len+3)/4 }

// text returns a text that was kept.
func (r *room) text(at ref) string {
	words := r.at(at)
	text := make([]byte, words[0])
	for i := range text {
		text[i] = byte(words[1+i/4] >> (i % 4 * 8))
	}
	return string(text)
}

// erase takes back the room of a text.
func (r *room) erase(at ref) { r.give(at, textWords(int(r.at(at)[0]))) }

package schedule

// A wheel is a timer wheel of feeds. Insertion and removal are O(1), for any number of feeds.
type wheel struct {
	now   int64
	first []int32 // first feed due in a second, -1 if none, by the second modulo the length
	next  []int32 // next feed due in the same second, -1 if none
	due   []int64 // by feed
}

// wheelSize is the range of a wheel in seconds. Feeds due later are inserted again on each turn.
const wheelSize = 1 << 17

func newWheel(feeds int, now int64) *wheel {
	w := &wheel{now: now, first: make([]int32, wheelSize), next: make([]int32, feeds), due: make([]int64, feeds)}
	for i := range w.first {
		w.first[i] = -1
	}
	return w
}

// put inserts a feed at its due time, a second after now.
func (w *wheel) put(feed int, due int64) {
	w.due[feed] = max(due, w.now+1)
	slot := min(w.due[feed], w.now+wheelSize-1) % wheelSize
	w.next[feed], w.first[slot] = w.first[slot], int32(feed)
}

// step advances by a second and calls do with each feed due in it.
func (w *wheel) step(do func(feed int)) {
	w.now++
	slot := w.now % wheelSize
	feed := w.first[slot]
	w.first[slot] = -1
	for feed >= 0 {
		following := w.next[feed]
		if w.due[feed] > w.now {
			w.put(int(feed), w.due[feed])
		} else {
			do(int(feed))
		}
		feed = following
	}
}

package schedule

// A wheel hands out feeds at the second they are due. Putting and taking are
// O(1), whatever the number of feeds.
type wheel struct {
	now   int64
	first []int32 // feed that is due in a second, -1 if none, by the second modulo its length
	next  []int32 // feed that is due in the same second as one, -1 if none
	due   []int64 // by feed
}

// turn is how many seconds a wheel looks ahead. Feeds that are due later come
// round and are put back.
const turn = 1 << 17

func newWheel(feeds int, now int64) *wheel {
	w := &wheel{now: now, first: make([]int32, turn), next: make([]int32, feeds), due: make([]int64, feeds)}
	for i := range w.first {
		w.first[i] = -1
	}
	return w
}

// put has a feed come when it is due, in a second after now.
func (w *wheel) put(feed int, due int64) {
	w.due[feed] = max(due, w.now+1)
	slot := min(w.due[feed], w.now+turn-1) % turn
	w.next[feed], w.first[slot] = w.first[slot], int32(feed)
}

// step goes on by a second and calls do with each feed that is due in it.
func (w *wheel) step(do func(feed int)) {
	w.now++
	slot := w.now % turn
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

package near

// A Hand says that somebody decided of two items whether one repeats the other.
type Hand struct {
	A    string `json:"a"`              // item ID; of Join the one that B repeats
	B    string `json:"b"`              // item ID
	Join bool   `json:"join,omitempty"` // or else they stay apart
}

// hands are what people decided, the last decisions only, one of each pair.
type hands struct {
	list   []made            // oldest first; those that a later one took back are among them
	last   map[pair]uint64   // the decision that holds for a pair
	joins  map[string]string // the item that one repeats
	number uint64            // of the last decision
}

// pair is two item IDs by the alphabet.
type pair [2]string

func pairOf(a, b string) pair {
	if a > b {
		a, b = b, a
	}
	return pair{a, b}
}

// made is a decision and its number.
type made struct {
	Hand
	number uint64
}

// joined returns the item that another was joined to.
func (h *hands) joined(id string) (of string, ok bool) {
	of, ok = h.joins[id]
	return of, ok
}

// split reports whether two items are to stay apart.
func (h *hands) split(a, b string) bool {
	if len(h.last) == 0 {
		return false
	}
	_, ok := h.last[pairOf(a, b)]
	return ok && h.joins[a] != b && h.joins[b] != a
}

// holds reports whether no later decision took one back.
func (h *hands) holds(m made) bool { return h.last[pairOf(m.A, m.B)] == m.number }

// decide adds a decision, which takes back others of the pair, and that its B
// repeats another item.
func (h *hands) decide(d Hand, max int) {
	if h.last == nil {
		h.last, h.joins = make(map[pair]uint64), make(map[string]string)
	}
	h.forget(d.A, d.B)
	if of, ok := h.joins[d.B]; ok && d.Join {
		h.forget(of, d.B)
	}
	h.number++
	h.last[pairOf(d.A, d.B)] = h.number
	if d.Join {
		h.joins[d.B] = d.A
	}
	h.list = append(h.list, made{d, h.number})
	for len(h.last) > max {
		if old := h.list[0]; h.holds(old) {
			h.forget(old.A, old.B)
		}
		h.list = h.list[1:]
	}
	if len(h.list) > 2*max {
		h.list = h.inForce()
	}
}

// forget forgets what was decided of two items.
func (h *hands) forget(a, b string) {
	delete(h.last, pairOf(a, b))
	if h.joins[a] == b {
		delete(h.joins, a)
	}
	if h.joins[b] == a {
		delete(h.joins, b)
	}
}

// inForce returns the decisions that hold, oldest first.
func (h *hands) inForce() []made {
	list := make([]made, 0, len(h.last))
	for _, m := range h.list {
		if h.holds(m) {
			list = append(list, m)
		}
	}
	return list
}

// Hands returns what people decided and still holds, oldest first: at most
// [Settings.Held] decisions. It is what a successor must be told by [Index.Hold].
func (x *Index) Hands() []Hand {
	var list []Hand
	for _, m := range x.hand.inForce() {
		list = append(list, m.Hand)
	}
	return list
}

// Hold remembers what a person decided, in place of what was decided of the pair
// before, and moves nothing: what is remembered got its answer. It holds for what is
// placed from now on. To hold a decision twice is harmless.
func (x *Index) Hold(h Hand) {
	if h.A != h.B {
		x.hand.decide(h, x.settings.Held)
	}
}

// apart reports whether a person said that the item with an ID repeats neither
// item i nor the first of its kind.
func (x *Index) apart(id string, i uint32) bool {
	if len(x.hand.last) == 0 {
		return false
	}
	return x.hand.split(id, x.id(i)) || x.hand.split(id, x.first(i))
}

// Split says that b does not repeat a, now and whenever either is placed again. It
// returns the IDs of items that have another answer since: b, or a if that was
// taken to repeat b; none if they were apart, as they are the second time. Either
// may be forgotten, or yet to come. O(1).
func (x *Index) Split(a, b string) (changed []string) {
	if a == b {
		return nil
	}
	x.Hold(Hand{A: a, B: b})
	first := x.firstOf(a)
	if first != x.firstOf(b) {
		return nil
	}
	if first == b {
		a, b = b, a
	}
	x.Hold(Hand{A: first, B: b})
	if of, ok := x.hand.joined(b); ok && x.firstOf(of) == first {
		x.hand.forget(of, b)
	}
	if i, ok := x.find(b); ok {
		x.replace(i, Placed{By: byHand, Score: 1, Why: "split by hand"})
		changed = append(changed, b)
	}
	return changed
}

// Join says that b, and what repeats b, repeats a, now and whenever b is placed
// again. It returns the IDs of items that have another answer since; none the
// second time. Either may be forgotten, or yet to come. O(items): it is for people.
func (x *Index) Join(a, b string) (changed []string) {
	if a == b {
		return nil
	}
	first, old := x.firstOf(a), x.firstOf(b)
	if first == old {
		if b == first {
			a, b = b, a
		}
		x.Hold(Hand{A: first, B: b, Join: true})
		return nil
	}
	x.Hold(Hand{A: a, B: b, Join: true})
	x.Hold(Hand{A: first, B: old, Join: true})
	for i := range x.items.len {
		if x.first(i) == old {
			id := x.id(i)
			if x.hand.split(first, id) {
				x.hand.forget(first, id)
			}
			x.replace(i, Placed{Of: first, By: byHand, Score: 1, Why: "joined by hand"})
			changed = append(changed, id)
		}
	}
	return changed
}

// replace gives item i another answer.
func (x *Index) replace(i uint32, as Placed) {
	e := x.items.at(i)
	id, title := x.id(i), x.candidate(i).title
	x.count(x.of(i), -1)
	x.count(as.Of, 1)
	e.write(x.buffer(i), id, as.Of, as.Why, title)
	e.by, e.score = byCode(as.By), float32(as.Score)
	x.tidy(i)
}

// tidy writes the words of the block of item i anew if most of them are not used
// any more, so that nobody fills memory by changing his mind.
func (x *Index) tidy(i uint32) {
	used := 0
	x.block(i, func(e *entry) { used += e.size() })
	was := x.buffer(i)
	if len(*was) <= 2*used+1<<10 {
		return
	}
	now := make([]byte, 0, used)
	x.block(i, func(e *entry) {
		at := len(now)
		now = append(now, (*was)[e.at:int(e.at)+e.size()]...)
		e.at = uint32(at)
	})
	*was = now
}

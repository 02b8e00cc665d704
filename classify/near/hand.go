package near

// A hand is what people decided, the last decisions only.
type hand struct {
	decisions []decision // oldest first
	joins     map[string]string
	splits    map[pair]bool
}

type pair [2]string

type decision struct {
	pair
	join bool
}

// joined returns the item that another was joined to.
func (h *hand) joined(id string) (of string, ok bool) {
	of, ok = h.joins[id]
	return of, ok
}

// split reports whether two items are to stay apart.
func (h *hand) split(a, b string) bool { return h.splits[pair{a, b}] || h.splits[pair{b, a}] }

// decide adds a decision, which takes back those that say otherwise.
func (h *hand) decide(d decision, max int) {
	if h.joins == nil {
		h.joins, h.splits = make(map[string]string), make(map[pair]bool)
	}
	a, b := d.pair[0], d.pair[1]
	if d.join {
		delete(h.splits, pair{a, b})
		delete(h.splits, pair{b, a})
		h.joins[b] = a
		if h.joins[a] == b {
			delete(h.joins, a)
		}
	} else {
		h.splits[pair{a, b}] = true
		if h.joins[b] == a {
			delete(h.joins, b)
		}
		if h.joins[a] == b {
			delete(h.joins, a)
		}
	}
	h.decisions = append(h.decisions, d)
	for len(h.decisions) > max {
		old := h.decisions[0]
		h.decisions = h.decisions[1:]
		if old.join && h.joins[old.pair[1]] == old.pair[0] {
			delete(h.joins, old.pair[1])
		} else if !old.join {
			delete(h.splits, old.pair)
		}
	}
}

// apart reports whether a person said that the item with an ID repeats neither
// item i nor the first of its kind.
func (x *Index) apart(id string, i uint32) bool {
	if len(x.hand.splits) == 0 {
		return false
	}
	return x.hand.split(id, x.id(i)) || x.hand.split(id, x.first(i))
}

// Split says that b does not repeat a, now and whenever either is placed again. It
// returns the IDs of items that have another answer since: b, or a if that was
// taken to repeat b; none if they were apart. Either may be forgotten, or yet to
// come. O(1).
func (x *Index) Split(a, b string) (changed []string) {
	x.hand.decide(decision{pair{a, b}, false}, x.settings.Held)
	first := x.firstOf(a)
	if first != x.firstOf(b) {
		return nil
	}
	if first == b {
		a, b = b, a
	}
	if first != a {
		x.hand.decide(decision{pair{first, b}, false}, x.settings.Held)
	}
	if i, ok := x.find(b); ok {
		x.replace(i, Placed{By: byHand, Score: 1, Why: "split by hand"})
		changed = append(changed, b)
	}
	return changed
}

// Join says that b, and what repeats b, repeats a, now and whenever b is placed
// again. It returns the IDs of items that have another answer since. O(items): it
// is for people.
func (x *Index) Join(a, b string) (changed []string) {
	if a == b {
		return nil
	}
	first, old := x.firstOf(a), x.firstOf(b)
	x.hand.decide(decision{pair{a, b}, true}, x.settings.Held)
	if first == old {
		return nil
	}
	x.hand.decide(decision{pair{first, old}, true}, x.settings.Held)
	for i := range x.items.len {
		if x.first(i) == old {
			x.replace(i, Placed{Of: first, By: byHand, Score: 1, Why: "joined by hand"})
			changed = append(changed, x.id(i))
		}
	}
	return changed
}

// replace gives item i another answer.
func (x *Index) replace(i uint32, as Placed) {
	e := x.items.at(i)
	id, title := x.id(i), x.candidate(i).title
	e.write(x.buffer(i), id, as.Of, as.Why, title)
	e.by, e.score = byCode(as.By), float32(as.Score)
}

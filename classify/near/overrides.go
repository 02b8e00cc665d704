package near

// An Override is a person's decision whether one item duplicates another.
type Override struct {
	A    string `json:"a"`              // item ID; of a join, the original
	B    string `json:"b"`              // item ID
	Join bool   `json:"join,omitempty"` // false: the items stay apart
}

// overrides contains the newest decision of each pair, up to a bound.
type overrides struct {
	list   []numberedOverride // oldest first, including revoked decisions
	last   map[pair]uint64    // number of the active decision of a pair
	joins  map[string]string  // by ID of the duplicate: its original
	number uint64             // of the last decision
}

// pair is two item IDs in alphabetical order.
type pair [2]string

func pairOf(a, b string) pair {
	if a > b {
		a, b = b, a
	}
	return pair{a, b}
}

// numberedOverride is a decision and its number.
type numberedOverride struct {
	Override
	number uint64
}

// joinedTo returns the item that another was joined to.
func (h *overrides) joinedTo(id string) (of string, ok bool) {
	of, ok = h.joins[id]
	return of, ok
}

// split reports whether two items must stay apart.
func (h *overrides) split(a, b string) bool {
	if len(h.last) == 0 {
		return false
	}
	_, ok := h.last[pairOf(a, b)]
	return ok && h.joins[a] != b && h.joins[b] != a
}

// isActive reports whether no later decision revoked m.
func (h *overrides) isActive(m numberedOverride) bool { return h.last[pairOf(m.A, m.B)] == m.number }

// decide adds a decision. It revokes earlier decisions of the pair, and an earlier join of its B.
func (h *overrides) decide(d Override, max int) {
	if h.last == nil {
		h.last, h.joins = make(map[pair]uint64), make(map[string]string)
	}
	h.remove(d.A, d.B)
	if of, ok := h.joins[d.B]; ok && d.Join {
		h.remove(of, d.B)
	}
	h.number++
	h.last[pairOf(d.A, d.B)] = h.number
	if d.Join {
		h.joins[d.B] = d.A
	}
	h.list = append(h.list, numberedOverride{d, h.number})
	for len(h.last) > max {
		if old := h.list[0]; h.isActive(old) {
			h.remove(old.A, old.B)
		}
		h.list = h.list[1:]
	}
	if len(h.list) > 2*max {
		h.list = h.active()
	}
}

// remove removes the decision of a pair.
func (h *overrides) remove(a, b string) {
	delete(h.last, pairOf(a, b))
	if h.joins[a] == b {
		delete(h.joins, a)
	}
	if h.joins[b] == a {
		delete(h.joins, b)
	}
}

// active returns the active decisions, oldest first.
func (h *overrides) active() []numberedOverride {
	list := make([]numberedOverride, 0, len(h.last))
	for _, m := range h.list {
		if h.isActive(m) {
			list = append(list, m)
		}
	}
	return list
}

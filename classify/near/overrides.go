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

// Overrides returns the active decisions, oldest first: at most [Settings.MaxOverrides]. A successor restores
// them by [Index.AddOverride].
func (x *Index) Overrides() []Override {
	var list []Override
	for _, m := range x.overrides.active() {
		list = append(list, m.Override)
	}
	return list
}

// AddOverride stores a decision in place of an earlier one of the pair. It affects items placed later; stored
// items keep their match. It is idempotent.
func (x *Index) AddOverride(h Override) {
	if h.A != h.B {
		x.overrides.decide(h, x.settings.MaxOverrides)
	}
}

// apart reports whether a decision separates the item with an ID from item i or its original.
func (x *Index) apart(id string, i uint32) bool {
	if len(x.overrides.last) == 0 {
		return false
	}
	return x.overrides.split(id, x.id(i)) || x.overrides.split(id, x.original(i))
}

// Split decides that b does not duplicate a, now and whenever either is placed again. It returns the IDs of
// items whose match changed: b, or a if a was a duplicate of b; none if they were already separate, so a
// second call returns none. Either may be evicted or not yet placed. O(1).
func (x *Index) Split(a, b string) (changed []string) {
	if a == b {
		return nil
	}
	x.AddOverride(Override{A: a, B: b})
	first := x.originalOf(a)
	if first != x.originalOf(b) {
		return nil
	}
	if first == b {
		a, b = b, a
	}
	x.AddOverride(Override{A: first, B: b})
	if of, ok := x.overrides.joinedTo(b); ok && x.originalOf(of) == first {
		x.overrides.remove(of, b)
	}
	if i, ok := x.find(b); ok {
		x.replace(i, Match{By: manual, Score: 1, Reason: "split by hand"})
		changed = append(changed, b)
	}
	return changed
}

// Join decides that b and its duplicates duplicate a, now and whenever b is placed again. It returns the IDs
// of items whose match changed; a second call returns none. Either may be evicted or not yet placed.
// O(items): it serves manual edits only.
func (x *Index) Join(a, b string) (changed []string) {
	if a == b {
		return nil
	}
	first, old := x.originalOf(a), x.originalOf(b)
	if first == old {
		if b == first {
			a, b = b, a
		}
		x.AddOverride(Override{A: first, B: b, Join: true})
		return nil
	}
	x.AddOverride(Override{A: a, B: b, Join: true})
	x.AddOverride(Override{A: first, B: old, Join: true})
	for i := range x.items.len {
		if x.original(i) == old {
			id := x.id(i)
			if x.overrides.split(first, id) {
				x.overrides.remove(first, id)
			}
			x.replace(i, Match{DuplicateOf: first, By: manual, Score: 1, Reason: "joined by hand"})
			changed = append(changed, id)
		}
	}
	return changed
}

// replace replaces the match of item i.
func (x *Index) replace(i uint32, match Match) {
	e := x.items.at(i)
	id, title := x.id(i), x.candidate(i).title
	x.countDuplicate(x.duplicateOf(i), -1)
	x.countDuplicate(match.DuplicateOf, 1)
	e.write(x.buffer(i), id, match.DuplicateOf, match.Reason, title)
	e.by, e.score = kindCode(match.By), float32(match.Score)
	x.compactTexts(i)
}

// compactTexts rewrites the text buffer of item i if most of it is unused, so that repeated edits cannot
// exhaust memory.
func (x *Index) compactTexts(i uint32) {
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

package near

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

// originalOf returns the ID of the original of an item that may be evicted. For an evicted item it follows
// manual joins.
func (x *Index) originalOf(id string) string {
	for range maxJoins {
		if i, ok := x.find(id); ok {
			return x.original(i)
		}
		of, ok := x.overrides.joinedTo(id)
		if !ok {
			break
		}
		id = of
	}
	return id
}

// maxJoins bounds the manual joins of evicted items that are followed.
const maxJoins = 64

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

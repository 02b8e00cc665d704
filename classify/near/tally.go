package near

import (
	"cmp"
	"slices"
)

// A tally counts how often items are met, by their titles and by their bodies. The
// zero value is ready to use.
type tally struct {
	items []uint32 // twice the place of an item, and 1 if it was met by its body
	list  []met
}

type met struct {
	item  uint32
	times int
	body  bool // it was met by its body too
}

func (t *tally) add(item uint32, body bool) { t.items = append(t.items, 2*item+uint32(boolInt(body))) }

// best returns the at most n items met most often; of those met equally often the
// oldest come first. It empties the tally.
func (t *tally) best(n int) []met {
	slices.Sort(t.items)
	t.list = t.list[:0]
	for i, item := range t.items {
		if i == 0 || item/2 != t.items[i-1]/2 {
			t.list = append(t.list, met{item: item / 2})
		}
		last := &t.list[len(t.list)-1]
		last.times++
		last.body = last.body || item%2 == 1
	}
	t.items = t.items[:0]
	slices.SortFunc(t.list, func(a, b met) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(a.item, b.item))
	})
	return t.list[:min(len(t.list), n)]
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

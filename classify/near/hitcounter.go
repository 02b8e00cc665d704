package near

import (
	"cmp"
	"slices"
)

// A hitCounter counts title and body hits of items. The zero value is ready to use.
type hitCounter struct {
	items []uint32 // twice the index of an item, plus 1 for a body hit
	list  []hitCount
}

type hitCount struct {
	item  uint32
	count int
	body  bool // at least one hit was by the body
}

func (t *hitCounter) add(item uint32, body bool) {
	t.items = append(t.items, 2*item+uint32(boolInt(body)))
}

// best returns the at most n items with most hits; of equal counts the oldest come first. It empties the
// counter.
func (t *hitCounter) best(n int) []hitCount {
	slices.Sort(t.items)
	t.list = t.list[:0]
	for i, item := range t.items {
		if i == 0 || item/2 != t.items[i-1]/2 {
			t.list = append(t.list, hitCount{item: item / 2})
		}
		last := &t.list[len(t.list)-1]
		last.count++
		last.body = last.body || item%2 == 1
	}
	t.items = t.items[:0]
	slices.SortFunc(t.list, func(a, b hitCount) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.item, b.item))
	})
	return t.list[:min(len(t.list), n)]
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

package classify

// groupedLists stores many short lists in one slice.
type groupedLists[T any] struct {
	start []int32
	items []T
}

// of returns list i. The caller must not change it.
func (l *groupedLists[T]) of(i int32) []T { return l.items[l.start[i]:l.start[i+1]] }

// An entry is an item together with the list it belongs to.
type entry[T any] struct {
	list int32
	item T
}

// group builds n lists from entries, keeping their order.
func group[T any](entries []entry[T], n int) groupedLists[T] {
	l := groupedLists[T]{start: make([]int32, n+1), items: make([]T, len(entries))}
	for _, e := range entries {
		l.start[e.list+1]++
	}
	for i := range n {
		l.start[i+1] += l.start[i]
	}
	next := append([]int32(nil), l.start[:n]...)
	for _, e := range entries {
		l.items[next[e.list]] = e.item
		next[e.list]++
	}
	return l
}

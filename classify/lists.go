package classify

// lists are many short lists in one piece of memory.
type lists[T any] struct {
	start []int32
	items []T
}

// of returns list i. The caller must not change it.
func (l *lists[T]) of(i int32) []T { return l.items[l.start[i]:l.start[i+1]] }

// An entry says that something is in a list.
type entry[T any] struct {
	list int32
	item T
}

// group makes n lists of entries, which keep their order.
func group[T any](entries []entry[T], n int) lists[T] {
	l := lists[T]{start: make([]int32, n+1), items: make([]T, len(entries))}
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

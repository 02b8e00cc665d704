package role

import (
	"cmp"
	"slices"
	"strings"
)

// A dueHeap has the feed on top that has been due longest.
type dueHeap []*planned

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return earlier(h[i], h[j]) }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *dueHeap) Push(x any) {
	f := x.(*planned)
	f.index = len(*h)
	*h = append(*h, f)
}

func (h *dueHeap) Pop() any {
	old := *h
	f := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	f.index = -1
	return f
}

// earlier orders by when feeds are to be handed out, then by ID.
func earlier(a, b *planned) bool {
	if at, bt := a.when(), b.when(); !at.Equal(bt) {
		return at.Before(bt)
	}
	return a.FeedID < b.FeedID
}

// sortByDue orders feeds so that a task is made up of the same feeds in the same
// order wherever it is made.
func sortByDue(feeds []*planned) {
	slices.SortFunc(feeds, func(a, b *planned) int {
		return cmp.Or(a.State.Due.Compare(b.State.Due), strings.Compare(a.FeedID, b.FeedID))
	})
}

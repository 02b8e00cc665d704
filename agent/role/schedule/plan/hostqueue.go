package plan

import (
	"strings"
	"time"
)

// A hostQueue holds the waiting feeds of one host and one tier, the longest due on top.
type hostQueue struct {
	host  *host
	feeds feedHeap
	index int // in Plan.ready of its tier; -1 if the host has requests in flight or the queue is empty
}

// readyAt returns the earliest time at which its first feed may be dispatched.
func (l *hostQueue) readyAt() time.Time {
	if next := l.feeds[0].State.Next; next.After(l.host.notBefore) {
		return next
	}
	return l.host.notBefore
}

// overdue returns the number of due feeds.
func (l *hostQueue) overdue(now time.Time) int {
	if l == nil {
		return 0
	}
	return l.feeds.due(0, now)
}

// due counts the due feeds in the subheap at index i. It visits at most twice as many feeds as it counts.
func (h feedHeap) due(i int, now time.Time) int {
	if i >= len(h) || h[i].State.Next.After(now) {
		return 0
	}
	return 1 + h.due(2*i+1, now) + h.due(2*i+2, now)
}

// A feedHeap has the longest due feed on top.
type feedHeap []*Feed

func (h feedHeap) Len() int           { return len(h) }
func (h feedHeap) Less(i, j int) bool { return earlier(h[i], h[j]) }
func (h feedHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements [heap.Interface].
func (h *feedHeap) Push(x any) {
	f := x.(*Feed)
	f.index = len(*h)
	*h = append(*h, f)
}

// Pop implements [heap.Interface].
func (h *feedHeap) Pop() any {
	last := len(*h) - 1
	f := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	f.index = -1
	return f
}

// earlier orders feeds by due time, then by ID.
func earlier(a, b *Feed) bool {
	if at, bt := a.State.Next, b.State.Next; !at.Equal(bt) {
		return at.Before(bt)
	}
	return a.FeedID < b.FeedID
}

// A queueHeap has the queue on top whose first feed is ready first.
type queueHeap []*hostQueue

func (h queueHeap) Len() int { return len(h) }

func (h queueHeap) Less(i, j int) bool {
	if at, bt := h[i].readyAt(), h[j].readyAt(); !at.Equal(bt) {
		return at.Before(bt)
	}
	return strings.Compare(h[i].host.Name, h[j].host.Name) < 0
}

func (h queueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements [heap.Interface].
func (h *queueHeap) Push(x any) {
	l := x.(*hostQueue)
	l.index = len(*h)
	*h = append(*h, l)
}

// Pop implements [heap.Interface].
func (h *queueHeap) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	l.index = -1
	return l
}

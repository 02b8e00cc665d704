package plan

import (
	"container/heap"
	"strings"
	"time"
)

// A lane has the feeds of one host and one tier that wait, the one due longest
// on top.
type lane struct {
	host  *host
	feeds feedHeap
	index int // among the ready ones of its tier; -1 if its host can't be asked or nothing waits
}

// at returns when its first feed may be handed out.
func (l *lane) at() time.Time {
	if next := l.feeds[0].State.Next; next.After(l.host.free) {
		return next
	}
	return l.host.free
}

// overdue returns how many of its feeds are due.
func (l *lane) overdue(now time.Time) int {
	if l == nil {
		return 0
	}
	return l.feeds.due(0, now)
}

// due counts the feeds due below the i-th: it looks at no more than twice as
// many as there are.
func (h feedHeap) due(i int, now time.Time) int {
	if i >= len(h) || h[i].State.Next.After(now) {
		return 0
	}
	return 1 + h.due(2*i+1, now) + h.due(2*i+2, now)
}

// place puts a feed that waits into its lane.
func (p *Plan) place(f *Feed) {
	if f.State.Next.IsZero() || f.State.Crawl != "" {
		return
	}
	l := f.host.lanes[f.tier]
	if l == nil {
		l = &lane{host: f.host, index: -1}
		f.host.lanes[f.tier] = l
	}
	heap.Push(&l.feeds, f)
	p.arrange(f.host)
}

// unplace takes a feed out of its lane.
func (p *Plan) unplace(f *Feed) {
	if f.index >= 0 {
		heap.Remove(&f.host.lanes[f.tier].feeds, f.index)
		p.arrange(f.host)
	}
}

// arrange puts a host's lanes where they belong among the ready ones, or takes
// them out while it is being asked. An empty lane is given up: there are many
// hosts.
func (p *Plan) arrange(h *host) {
	for tier, l := range h.lanes {
		if l == nil {
			continue
		}
		ready := &p.ready[tier]
		switch can := len(h.asking) == 0 && len(l.feeds) > 0; {
		case can && l.index < 0:
			heap.Push(ready, l)
		case can:
			heap.Fix(ready, l.index)
		case l.index >= 0:
			heap.Remove(ready, l.index)
		}
		if len(l.feeds) == 0 {
			h.lanes[tier] = nil
		}
	}
}

// A feedHeap has the feed on top that has been due longest.
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

// earlier orders by when feeds are due, then by ID.
func earlier(a, b *Feed) bool {
	if at, bt := a.State.Next, b.State.Next; !at.Equal(bt) {
		return at.Before(bt)
	}
	return a.FeedID < b.FeedID
}

// A laneHeap has the lane on top whose first feed may go first.
type laneHeap []*lane

func (h laneHeap) Len() int { return len(h) }

func (h laneHeap) Less(i, j int) bool {
	if at, bt := h[i].at(), h[j].at(); !at.Equal(bt) {
		return at.Before(bt)
	}
	return strings.Compare(h[i].host.Name, h[j].host.Name) < 0
}

func (h laneHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements [heap.Interface].
func (h *laneHeap) Push(x any) {
	l := x.(*lane)
	l.index = len(*h)
	*h = append(*h, l)
}

// Pop implements [heap.Interface].
func (h *laneHeap) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	l.index = -1
	return l
}

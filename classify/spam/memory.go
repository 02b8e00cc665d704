package spam

import (
	"container/list"
	"sync"
	"time"
	"unsafe"
)

const (
	tracesKept = 32             // items that are remembered of each feed, and of each host
	tracesMore = 4              // for which room is made at a time
	floodTime  = 24 * time.Hour // within which copies are counted

	// DefaultMemory is for at least 11,000 feeds and hosts: those that publish in an
	// hour or two, of 50,000 feeds.
	DefaultMemory = 32 << 20
)

// A Memory knows the last items of feeds and hosts, so that it can tell what is
// made by a template, and what floods. It may be used concurrently. A restart
// empties it: it decides nothing alone, see [Habits].
type Memory struct {
	mu    sync.Mutex
	most  int // feeds and hosts
	spots map[string]*list.Element
	order *list.List // of *spot, the one used last first
}

// A spot is a feed or a host.
type spot struct {
	name   string
	traces []trace // a ring
	next   int
}

// spotSize is what a feed or host costs, in bytes: its traces, its name and where
// it is found.
const spotSize = tracesKept*int(unsafe.Sizeof(trace{})) + 400

// NewMemory returns a memory that takes at most so many bytes; those feeds and
// hosts that were silent longest are forgotten first.
func NewMemory(bytes int) *Memory {
	return &Memory{most: max(2, bytes/spotSize), spots: make(map[string]*list.Element), order: list.New()}
}

// Habits are what a feed and a host did before an item. The zero Habits are
// unknown. They never make spam alone: they weigh no more than what else speaks
// for it, as releases, planets and weekly links are alike and no spam.
type Habits struct {
	Items  int // of the feed that are remembered, this one not among them; at most 32
	Alike  int // of these with a title or a text made alike
	Copies int // items of the host within a day that nearly have its text, though not all the same; at most 32
}

// Habits remembers an item and returns what its feed and host did before. An item
// that is met again, in another feed or by a task that is repeated, counts once.
// at is the time it was met.
func (m *Memory) Habits(feedID, host, title, text string, at time.Time) Habits {
	t := traceOf(title, text, at)
	m.mu.Lock()
	defer m.mu.Unlock()
	var h Habits
	if feedID != "" {
		s := m.spot("feed " + cutName(feedID))
		for _, before := range s.traces {
			if before.exact == t.exact {
				continue
			}
			h.Items++
			if before.alike(t) {
				h.Alike++
			}
		}
		s.remember(t)
	}
	if host != "" {
		s := m.spot("host " + cutName(host))
		for _, before := range s.traces {
			if before.exact != t.exact && t.at-before.at < int64(floodTime/time.Second) && before.copies(t) {
				h.Copies++
			}
		}
		s.remember(t)
	}
	return h
}

// cutName bounds a name, which a stranger may have chosen.
func cutName(name string) string { return name[:min(len(name), 200)] }

// spot returns the spot of that name, and makes room for it where there is none.
func (m *Memory) spot(name string) *spot {
	if e, ok := m.spots[name]; ok {
		m.order.MoveToFront(e)
		return e.Value.(*spot)
	}
	for len(m.spots) >= m.most {
		last := m.order.Back()
		delete(m.spots, last.Value.(*spot).name)
		m.order.Remove(last)
	}
	s := &spot{name: name}
	m.spots[name] = m.order.PushFront(s)
	return s
}

func (s *spot) remember(t trace) {
	for i := range s.traces {
		if s.traces[i].exact == t.exact {
			return
		}
	}
	if len(s.traces) < tracesKept {
		if len(s.traces) == cap(s.traces) { // by a few, as most feeds have fewer items than are kept
			s.traces = append(make([]trace, 0, len(s.traces)+tracesMore), s.traces...)
		}
		s.traces = append(s.traces, t)
		return
	}
	s.traces[s.next] = t
	s.next = (s.next + 1) % tracesKept
}

const (
	templateItems = 8 // of a feed before its habits say something
	templateShare = 0.5
	floodCopies   = 4
)

// habits weighs what feed and host did before: as much as what else there is that
// speaks for spam, what was learned apart, and no more.
func (s *scales) habits(h Habits) {
	if s.found <= 0 {
		return
	}
	limited := func(w weight) float64 { return min(1, s.found/max(0.001, s.filter.weights[w])) }
	if h.Items >= templateItems && float64(h.Alike) >= templateShare*float64(h.Items) {
		s.look(template, limited(template), "as most items of this feed")
	}
	if h.Copies >= floodCopies {
		s.look(flood, limited(flood), "as others of its host today")
	}
}

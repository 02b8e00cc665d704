package simulate

import (
	"iter"
	"slices"
	"time"
)

// A Request is one that came for a feed.
type Request struct {
	Feed        int
	Start, End  time.Time
	Conditional bool // it told what the client has
	Full        bool // it got a document, whole
}

// An Entry is one that a feed published.
type Entry struct {
	Feed, Seq int
	Published time.Time // zero if it was there from the start
	Served    int       // documents with it that somebody got whole
}

// note keeps a request, and what its document showed.
func (f *Farm) note(r Request, shown span) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, r)
	if !r.Full {
		return
	}
	f.full++
	served := &f.feeds[r.Feed].served
	*served = append(*served, make([]int, max(0, shown.to-len(*served)))...)
	for seq := shown.from; seq < shown.to; seq++ {
		(*served)[seq]++
	}
}

// Log returns the requests that were answered, in order of their ends.
func (f *Farm) Log() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// Entries yields all entries that were published, feed after feed. Nothing may be
// asked of the farm meanwhile.
func (f *Farm) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for i, feed := range f.feeds {
			for seq := range feed.published {
				e := Entry{Feed: i, Seq: seq, Published: feed.times[seq]}
				if seq < len(feed.served) {
					e.Served = feed.served[seq]
				}
				if !yield(e) {
					return
				}
			}
		}
	}
}

package simulate

import (
	"iter"
	"slices"
	"time"
)

// A Request is a logged request for a feed.
type Request struct {
	Feed        int
	Start, End  time.Time
	Conditional bool // with validators
	Full        bool // answered with a completely transferred document
}

// An Entry is a published entry.
type Entry struct {
	Feed, Seq int
	Published time.Time // zero if it existed from the start
	Served    int       // completely transferred documents with it
}

// record records a request and the entries of its document.
func (f *FeedServer) record(r Request, shown span) {
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

// Log returns the answered requests, ordered by the end of the response.
func (f *FeedServer) Log() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// Entries yields all published entries, feed by feed. It holds the server's lock: no other method may be
// called meanwhile.
func (f *FeedServer) Entries() iter.Seq[Entry] {
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

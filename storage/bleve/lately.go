package bleve

import (
	"hash/maphash"
	"sync"

	"github.com/blevesearch/bleve/v2/document"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// Lately has the fingerprints of the documents that were put last, so that one that
// is put again as it is costs next to nothing. Many are: the store is read when the
// index comes to it, and may then say already what the next task tells of.
type lately struct {
	mu         sync.Mutex
	seed       maphash.Seed
	young, old map[uint64]seen // by hash of the ID; when young is full it becomes old
	calls      uint64
}

// maxLately is how many documents young has at most: together they take 5 MB.
const maxLately = 1 << 16

// A seen is what is known of a document.
type seen struct {
	print uint64
	call  uint64 // that is about to change it; 0 if the index has it
}

func newLately() *lately {
	return &lately{seed: maphash.MakeSeed(), young: make(map[uint64]seen)}
}

// printOf returns a number that another document has only by a great chance.
func (l *lately) printOf(doc *document.Document) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	add := func(parts ...string) {
		maphash.WriteComparable(&h, len(parts))
		for _, part := range parts {
			maphash.WriteComparable(&h, len(part))
			_, _ = h.WriteString(part) // never fails
		}
	}
	add(doc.ID())
	doc.VisitFields(func(field bleveindex.Field) {
		switch field := field.(type) { // in the same order for each document
		case *wordsOf:
			add(field.texts...)
		case *keywords:
			add(field.values...)
		}
	})
	return h.Sum64()
}

// knows reports whether anything is known of a document.
func (l *lately) knows(id uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.get(id)
	return ok
}

// begin returns a number for a call that changes documents to what prints say, by
// hash of the ID, and takes those from prints that need no change: also those that
// the index has, of which nothing was known. A print of 0 is for a document that is
// deleted.
func (l *lately) begin(prints map[uint64]uint64, has map[uint64]bool) (call uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	for id, print := range prints {
		was, ok := l.get(id)
		if ok && print != 0 && was == (seen{print: print}) {
			delete(prints, id)
			continue
		}
		if !ok && has[id] {
			delete(prints, id)
			l.set(id, seen{print: print})
			continue
		}
		l.set(id, seen{print, l.calls})
	}
	return l.calls
}

// end says that the call has ended and whether the documents now are as it said. Of
// one that another call changed meanwhile nothing is known: either may have been
// the last.
func (l *lately) end(call uint64, prints map[uint64]uint64, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, print := range prints {
		if was, ok := l.get(id); done && ok && was.call == call {
			l.set(id, seen{print: print})
			continue
		}
		delete(l.young, id)
		delete(l.old, id)
	}
}

func (l *lately) get(id uint64) (seen, bool) {
	if s, ok := l.young[id]; ok {
		return s, true
	}
	s, ok := l.old[id]
	return s, ok
}

func (l *lately) set(id uint64, s seen) {
	if len(l.young) >= maxLately {
		l.old, l.young = l.young, make(map[uint64]seen)
	}
	l.young[id] = s
}

// hash returns the number of an ID.
func (l *lately) hash(id string) uint64 { return maphash.String(l.seed, id) }

// gone returns the prints of documents that are deleted.
func (l *lately) gone(ids []string) map[uint64]uint64 {
	prints := make(map[uint64]uint64, len(ids))
	for _, id := range ids {
		prints[l.hash(id)] = 0
	}
	return prints
}

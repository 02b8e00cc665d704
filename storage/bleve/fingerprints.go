package bleve

import (
	"hash/maphash"
	"sync"

	"github.com/blevesearch/bleve/v2/document"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// fingerprintCache caches fingerprints of recently put documents, so that an unchanged document costs almost nothing.
// Unchanged documents are common: the index reads the store when it runs a task, and may already have the
// state of the next task.
type fingerprintCache struct {
	mu         sync.Mutex
	seed       maphash.Seed
	young, old map[uint64]cacheEntry // generations by hash of the ID; a full young one replaces old
	calls      uint64
}

// maxRecent bounds the documents of a generation: both take 5 MB.
const maxRecent = 1 << 16

// A cacheEntry is the cached state of a document.
type cacheEntry struct {
	fingerprint uint64
	call        uint64 // running call that changes the document; 0 if none
}

func newFingerprintCache() *fingerprintCache {
	return &fingerprintCache{seed: maphash.MakeSeed(), young: make(map[uint64]cacheEntry)}
}

// clear evicts all documents.
func (l *fingerprintCache) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.young, l.old = make(map[uint64]cacheEntry), nil
}

// fingerprint returns a 64-bit hash of the document's ID and fields.
func (l *fingerprintCache) fingerprint(doc *document.Document) uint64 {
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
		switch field := field.(type) { // in a fixed order for all documents
		case *wordsOf:
			add(field.texts...)
		case *keywords:
			add(field.values...)
		}
	})
	return h.Sum64()
}

// contains reports whether the cache contains a document.
func (l *fingerprintCache) contains(id uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.get(id)
	return ok
}

// begin starts a call that changes documents to the fingerprints in prints, by hash of the ID, and returns
// its number. It removes from prints the documents that are unchanged, including uncached documents in has. A
// fingerprint of 0 means deletion.
func (l *fingerprintCache) begin(fingerprints map[uint64]uint64, has map[uint64]bool) (call uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	for id, fingerprint := range fingerprints {
		was, ok := l.get(id)
		if ok && fingerprint != 0 && was == (cacheEntry{fingerprint: fingerprint}) {
			delete(fingerprints, id)
			continue
		}
		if !ok && has[id] {
			delete(fingerprints, id)
			l.set(id, cacheEntry{fingerprint: fingerprint})
			continue
		}
		l.set(id, cacheEntry{fingerprint, l.calls})
	}
	return l.calls
}

// end finishes a call; done reports success. Documents that another call changed meanwhile are evicted, since
// the order of both calls is undefined.
func (l *fingerprintCache) end(call uint64, fingerprints map[uint64]uint64, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, fingerprint := range fingerprints {
		if was, ok := l.get(id); done && ok && was.call == call {
			l.set(id, cacheEntry{fingerprint: fingerprint})
			continue
		}
		delete(l.young, id)
		delete(l.old, id)
	}
}

func (l *fingerprintCache) get(id uint64) (cacheEntry, bool) {
	if s, ok := l.young[id]; ok {
		return s, true
	}
	s, ok := l.old[id]
	return s, ok
}

func (l *fingerprintCache) set(id uint64, s cacheEntry) {
	if len(l.young) >= maxRecent {
		l.old, l.young = l.young, make(map[uint64]cacheEntry)
	}
	l.young[id] = s
}

// hash returns the cache key of an ID.
func (l *fingerprintCache) hash(id string) uint64 { return maphash.String(l.seed, id) }

// deletions returns fingerprints for documents to delete.
func (l *fingerprintCache) deletions(ids []string) map[uint64]uint64 {
	fingerprints := make(map[uint64]uint64, len(ids))
	for _, id := range ids {
		fingerprints[l.hash(id)] = 0
	}
	return fingerprints
}

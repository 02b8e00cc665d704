package simulate

import "sync"

// maxCacheBytes is the default size of the document cache, in bytes.
const maxCacheBytes = 32 << 20

// documents caches rendered documents: until a feed publishes again, all clients get the same document. The
// cache is bounded by size; evictions are random.
type documents struct {
	mu      sync.Mutex
	entries map[documentKey]cachedDocument
	size    int // total, in bytes
	most    int // limit of size; 0 is maxStoredBody
}

type documentKey struct {
	feed   int
	packed bool
}

type cachedDocument struct {
	shown span
	body  []byte
}

// get returns a feed's document with these entries from the cache, or renders it.
func (d *documents) get(key documentKey, shown span, render func() []byte) []byte {
	d.mu.Lock()
	kept := d.entries[key]
	d.mu.Unlock()
	if kept.body != nil && kept.shown == shown {
		return kept.body
	}
	body := render()
	d.put(key, cachedDocument{shown, body})
	return body
}

func (d *documents) put(key documentKey, fresh cachedDocument) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.entries == nil {
		d.entries = map[documentKey]cachedDocument{}
	}
	d.size += len(fresh.body) - len(d.entries[key].body)
	d.entries[key] = fresh
	for other, old := range d.entries { // map order: a random document
		if d.size <= d.limit() {
			return
		}
		d.size -= len(old.body)
		delete(d.entries, other)
	}
}

// setLimit sets the size limit of the cache.
func (d *documents) setLimit(most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.most = most
}

func (d *documents) limit() int {
	if d.most > 0 {
		return d.most
	}
	return maxCacheBytes
}

// full reports whether another document of average size would evict one.
func (d *documents) full() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size+d.size/max(1, len(d.entries)) > d.limit()
}

// A span is a range of entry numbers, without the last.
type span struct{ from, to int }

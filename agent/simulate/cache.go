package simulate

import "sync"

// maxKept is how many bytes of documents are kept, unless more are wanted.
const maxKept = 32 << 20

// documents keeps those rendered of late: until a feed publishes again, all who
// ask get the same one.
type documents struct {
	mu   sync.Mutex
	kept map[documentKey]keptDocument
	size int // of them all, in bytes
	most int // what size may be; 0 is maxKept
}

type documentKey struct {
	feed   int
	packed bool
}

type keptDocument struct {
	shown span
	body  []byte
}

// get returns a feed's document with these entries; render makes it, if need be.
func (d *documents) get(key documentKey, shown span, render func() []byte) []byte {
	d.mu.Lock()
	kept := d.kept[key]
	d.mu.Unlock()
	if kept.body != nil && kept.shown == shown {
		return kept.body
	}
	body := render()
	d.put(key, keptDocument{shown, body})
	return body
}

func (d *documents) put(key documentKey, fresh keptDocument) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil {
		d.kept = map[documentKey]keptDocument{}
	}
	d.size += len(fresh.body) - len(d.kept[key].body)
	d.kept[key] = fresh
	for other, old := range d.kept { // which of them is chance
		if d.size <= d.limit() {
			return
		}
		d.size -= len(old.body)
		delete(d.kept, other)
	}
}

// keep has so many bytes of documents kept.
func (d *documents) keep(most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.most = most
}

func (d *documents) limit() int {
	if d.most > 0 {
		return d.most
	}
	return maxKept
}

// full reports whether another document of the mean size takes the place of one.
func (d *documents) full() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size+d.size/max(1, len(d.kept)) > d.limit()
}

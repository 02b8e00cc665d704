package simulate

import "sync"

// maxKept is how many bytes of documents are kept.
const maxKept = 32 << 20

// documents keeps those rendered of late: until a feed publishes again, all who
// ask get the same one.
type documents struct {
	mu   sync.Mutex
	kept map[documentKey]keptDocument
	size int // of them all, in bytes
}

type documentKey struct {
	feed   int
	packed bool
}

type keptDocument struct {
	version int // entries published when it was rendered
	body    []byte
}

// get returns a feed's document of this version; render makes it, if need be.
func (d *documents) get(key documentKey, version int, render func() []byte) []byte {
	d.mu.Lock()
	kept := d.kept[key]
	d.mu.Unlock()
	if kept.body != nil && kept.version == version {
		return kept.body
	}
	body := render()
	d.put(key, keptDocument{version, body})
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
		if d.size <= maxKept {
			return
		}
		d.size -= len(old.body)
		delete(d.kept, other)
	}
}

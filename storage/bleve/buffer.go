package bleve

import (
	"fmt"
	"sync"
	"time"

	"feedmesh/storage"
)

const (
	// bufferTime is the time for which batches are collected in memory, so that they take one segment and two syncs of
	// scorch's list of segments together. They can be searched meanwhile.
	bufferTime = 5 * time.Second

	// maxBuffered is the number of documents above which batches wait until earlier ones are on disk.
	maxBuffered = 5000

	// bufferRetry is the pause after a failed write.
	bufferRetry = time.Second
)

// A buffer delays the writes of batches to disk. Scorch's goroutine that writes calls pause after each write, and failed
// after each error.
type buffer struct {
	flush chan struct{} // ends the present pause

	mu      sync.Mutex
	pending int           // documents in batches that are not on disk
	err     error         // of the last write, nil if it succeeded
	changed chan struct{} // is closed when pending or err change
	index   int           // number of the open index: batches of an index that was put aside count no more
}

func newBuffer() *buffer { return &buffer{flush: make(chan struct{}, 1), changed: make(chan struct{})} }

// change changes pending or err.
func (b *buffer) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	close(b.changed)
	b.changed = make(chan struct{})
}

// add counts a batch of so many documents, and returns a function to be called when it is on disk, or not to be written.
func (b *buffer) add(documents int) (done func(error)) {
	var index int
	b.change(func() {
		b.pending += documents
		index = b.index
	})
	var once sync.Once
	return func(error) {
		once.Do(func() {
			b.change(func() {
				if index == b.index {
					b.pending -= documents
				}
			})
		})
	}
}

// reset drops what is not on disk, because another index is opened.
func (b *buffer) reset() {
	b.change(func() { b.index, b.pending, b.err = b.index+1, 0, nil })
	b.endPause()
}

func (b *buffer) endPause() {
	select {
	case b.flush <- struct{}{}:
	default: // it ends already
	}
}

// pause returns when the next batches are to be written.
func (b *buffer) pause(ending <-chan struct{}) {
	b.change(func() { b.err = nil })
	select {
	case <-time.After(bufferTime):
	case <-b.flush:
	case <-ending:
	}
}

// failed records that a write failed, which scorch repeats at once, and returns after a pause.
func (b *buffer) failed(err error, ending <-chan struct{}) {
	b.change(func() { b.err = err })
	select {
	case <-time.After(bufferRetry):
	case <-ending:
	}
}

// check returns the error of the last write while it is repeated.
func (b *buffer) check() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failure()
}

func (b *buffer) failure() error {
	if b.err == nil || b.pending == 0 {
		return nil
	}
	return fmt.Errorf("%w: write the index: %w", storage.ErrUnavailable, b.err)
}

// wait returns when at most so many documents are not on disk, or with the error of a write, or when stopped is closed.
func (b *buffer) wait(documents int, stopped <-chan struct{}) error {
	for {
		b.mu.Lock()
		pending, err, changed := b.pending, b.failure(), b.changed
		b.mu.Unlock()
		if pending <= documents {
			return nil
		}
		if err != nil {
			return err
		}
		b.endPause()
		select {
		case <-changed:
		case <-stopped:
			return nil
		}
	}
}

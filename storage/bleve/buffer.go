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

	// Scorch removes old snapshots, and the files that only they use, when nothing changed while it wrote (bleve v2.6.3). Under
	// constant load that never happens: so once in quietEvery batches wait for two writes, at most for maxQuiet.
	quietEvery = time.Minute
	maxQuiet   = 5 * time.Second
)

// A buffer delays the writes of batches to disk. Scorch's goroutine that writes calls pause after each write, and failed
// after each error.
type buffer struct {
	flush chan struct{} // ends the present pause

	mu      sync.Mutex
	cleaned time.Time     // when scorch last removed what is old, or batches last waited for that
	quiet   chan struct{} // is closed when batches need not wait for scorch's write; nil if they need not
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
	b.change(func() {
		b.index, b.pending, b.err = b.index+1, 0, nil
		b.endQuiet()
	})
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
	waits := false
	b.change(func() {
		b.err = nil
		// A write changes the list of segments itself, so only the next one, of this list, may see no change.
		if waits = b.quiet != nil && time.Since(b.cleaned) < maxQuiet; !waits {
			b.endQuiet()
		}
	})
	if waits {
		return
	}
	select {
	case <-time.After(bufferTime):
	case <-b.flush:
	case <-ending:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.cleaned) > quietEvery {
		b.cleaned, b.quiet = time.Now(), make(chan struct{})
	}
}

// cleans records that scorch removes what is old.
func (b *buffer) cleans() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cleaned = time.Now()
	b.endQuiet()
}

// endQuiet lets batches continue. b.mu must be locked.
func (b *buffer) endQuiet() {
	if b.quiet != nil {
		close(b.quiet)
		b.quiet = nil
	}
}

// awaitQuiet waits while batches have to wait for scorch's write.
func (b *buffer) awaitQuiet() {
	b.mu.Lock()
	quiet := b.quiet
	b.mu.Unlock()
	if quiet == nil {
		return
	}
	select {
	case <-quiet:
	case <-time.After(maxQuiet):
	}
}

// failed records that a write failed, which scorch repeats at once, and returns after a pause.
func (b *buffer) failed(err error, ending <-chan struct{}) {
	b.change(func() {
		b.err = err
		b.endQuiet()
	})
	select {
	case <-time.After(bufferRetry):
	case <-ending:
	}
}

// retry drops the error of the last write, so that check and wait report only that of the next.
func (b *buffer) retry() { b.change(func() { b.err = nil }) }

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

package bleve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"feedmesh/storage"
)

const (
	// suspectInterval is the minimum time between two verifications because of errors.
	suspectInterval = time.Minute

	// replaceInterval is the minimum time between two replacements of an index that stopped although its files have
	// the right checksums. A retry might stop at the same file, and so might a new index.
	replaceInterval = time.Hour
)

// guard calls f, which reads the index's files. They are memory-mapped, so damage appears as a panic or a fault: these
// become errors. After any unexpected error the files are verified.
func (x *Index) guard(f func() error) (err error) {
	if damage := x.damage.Load(); damage != nil {
		return damageError(*damage)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read the index: panic: %v\n%s", p, debug.Stack())
			x.suspect(err)
		}
	}()
	err = f()
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) &&
		!errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, storage.ErrBadCursor) {
		x.suspect(err)
	}
	return err
}

// damageError is the error of all calls until a damaged index is replaced.
func damageError(damage error) error {
	return fmt.Errorf("%w: the search index is damaged and is being rebuilt from the store: %w", storage.ErrUnavailable, damage)
}

// suspect requests a verification of the files.
func (x *Index) suspect(cause error) {
	select {
	case x.suspected <- cause:
	default: // one is requested already
	}
}

// fail records damage. All calls fail until the index is replaced.
func (x *Index) fail(damage error) {
	x.damage.CompareAndSwap(nil, &damage)
	x.suspect(damage)
}

// watchFiles verifies the files at intervals and after errors, and replaces a damaged index, until Close.
func (x *Index) watchFiles() {
	next := time.NewTimer(verifyInterval)
	defer next.Stop()
	var last time.Time // last verification because of an error
	for {
		select {
		case <-x.ending:
			return
		case cause := <-x.suspected:
			if x.damage.Load() != nil || x.checkRunning() != nil || time.Since(last) >= suspectInterval {
				last = time.Now()
				x.examine(cause)
			}
		case <-next.C:
			if err := x.verify(x.slowly); errors.Is(err, errDamaged) {
				x.fail(err)
			}
			next.Reset(verifyInterval)
		}
	}
}

// verify verifies the files of the current state.
func (x *Index) verify(wait pace) error {
	return x.guard(func() error {
		x.mu.RLock()
		if x.closed {
			x.mu.RUnlock()
			return nil
		}
		now, err := x.scorch.Reader()
		x.mu.RUnlock() // a periodic verification takes long; the reader keeps its segments open
		if err != nil {
			return err
		}
		return verifySegments(now, wait)
	})
}

// slowly bounds a verification to verifyRate, and ends it with [Index.Close].
func (x *Index) slowly(bytes int) error {
	select {
	case <-time.After(time.Duration(bytes) * time.Second / verifyRate):
		return nil
	case <-x.ending:
		return errors.New("the index is being closed")
	}
}

// examine replaces the index if it is damaged, or if its background work stopped.
func (x *Index) examine(cause error) {
	if damage := x.damage.Load(); damage != nil {
		x.replace(*damage)
		return
	}
	if damage := x.verify(nil); damage != nil {
		x.fail(damage)
		x.replace(damage)
		return
	}
	if x.checkRunning() == nil {
		x.log.Error("index call failed, its files are intact", "err", cause)
		return
	}
	if time.Since(x.replaced) < replaceInterval {
		x.log.Error("index stopped again, restart the agent", "err", cause)
		return
	}
	x.replaced = time.Now()
	x.replace(cause)
}

// replace puts the index aside and opens an empty one.
func (x *Index) replace(cause error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	select {
	case <-x.ending:
		return // the next start finds the damage
	default:
	}
	aside, err := x.openAnew()
	if err != nil {
		x.closed = true
		x.stopped.Load().stop(err)
		x.log.Error("index damaged and not replaced, restart the agent", "err", errors.Join(cause, err))
		return
	}
	x.log.Warn("index damaged, rebuild from the store", "moved_to", aside, "err", cause)
}

// openAnew puts the index aside and opens an empty one. Its caller locks mu.
func (x *Index) openAnew() (aside string, err error) {
	opened.Delete(x.scorch)
	_ = x.swap(nil)
	if x.buffer != nil {
		x.buffer.reset()
	}
	if !x.closed {
		_ = closeIndex(x.bleve) // its content is lost anyway
	}
	if aside, err = SetAside(x.path); err != nil {
		return aside, err
	}
	if x.bleve, err = create(x.path, x.buffer != nil); err != nil {
		return aside, err
	}
	if x.scorch, err = x.bleve.Advanced(); err != nil {
		return aside, err
	}
	x.columns = newColumnCache()
	x.recent.clear()
	x.boosts.clear()
	x.stopped.Store(newBackground())
	x.damage.Store(nil)
	x.closed = false
	opened.Store(x.scorch, x)
	select {
	case <-x.suspected: // of the index put aside
	default:
	}
	return aside, nil
}

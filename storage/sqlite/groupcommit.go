package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
)

// A change is a unit of work that waits for a transaction.
type change struct {
	ctx       context.Context
	operation string
	work      func(*writer) error // may run twice; the first run is then rolled back
	err       error               // set before done is closed
	done      chan struct{}       // closed after commit or failure
}

// batchedTransaction is [engine.transaction] with group commit: all changes that wait for the write lock are committed
// as a batch in one transaction, with one sync. Failed work rolls back only itself.
func (e *engine) batchedTransaction(ctx context.Context, operation string, work func(*writer) error) error {
	c := &change{ctx: ctx, operation: operation, work: work, done: make(chan struct{})}
	e.mu.Lock()
	e.pending = append(e.pending, c)
	e.mu.Unlock()
	select {
	case e.writeLock <- struct{}{}:
		func() {
			defer func() { <-e.writeLock }()
			runtime.Gosched() // let goroutines started at the same time join the batch
			e.commitPending()
		}()
	case <-c.done:
	case <-ctx.Done():
		if e.withdraw(c) {
			return e.wrap(ctx, operation, ctx.Err())
		}
	}
	<-c.done
	return c.err
}

// withdraw removes a waiting change, and reports whether it was still waiting.
func (e *engine) withdraw(c *change) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, w := range e.pending {
		if w == c {
			e.pending = append(e.pending[:i], e.pending[i+1:]...)
			return true
		}
	}
	return false
}

// commitPending commits all waiting changes. The caller holds the write lock. The batch is bounded by the
// number of concurrent callers.
func (e *engine) commitPending() {
	e.mu.Lock()
	changes := e.pending
	e.pending = nil
	e.mu.Unlock()
	defer func() {
		for _, c := range changes {
			close(c.done)
		}
	}()
	for _, c := range changes {
		c.err = errPanic // replaced unless work panics
	}
	switch len(changes) {
	case 0:
	case 1:
		c := changes[0]
		c.err = e.wrap(c.ctx, c.operation, e.transact(c.ctx, c.work))
	default:
		e.commitBatch(changes)
	}
}

var errPanic = errors.New("another change of the same transaction panicked")

// callersContext returns a context that ends when the contexts of all changes have ended. Then no caller waits
// for the transaction any more, for example while another process holds the file lock.
func callersContext(changes []*change) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var left atomic.Int64
	left.Store(int64(len(changes)))
	var stops []func() bool
	for _, c := range changes {
		stops = append(stops, context.AfterFunc(c.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// commitBatch commits the batch of changes in one transaction. Nearly always none fails. If one fails, it
// retries all of them, each in its own savepoint, which is slower, because SQLite then copies every changed
// page. An error of the transaction itself fails all changes.
func (e *engine) commitBatch(changes []*change) {
	ctx, end := callersContext(changes)
	defer end()
	if e.transact(ctx, runAll(changes)) == nil {
		for _, c := range changes {
			c.err = nil
		}
		return
	}
	err := e.transact(ctx, func(w *writer) error {
		for _, c := range changes {
			var fatal error
			if c.err, fatal = w.inSavepoint(c.work); fatal != nil {
				return fatal
			}
		}
		return nil
	})
	for _, c := range changes {
		if err != nil {
			c.err = err
		}
		c.err = e.wrap(c.ctx, c.operation, c.err)
	}
}

// runAll runs the changes one after the other, and stops at the first error.
func runAll(changes []*change) func(*writer) error {
	return func(w *writer) error {
		for _, c := range changes {
			if err := c.work(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// inSavepoint runs work in a savepoint, and rolls back to it if work fails. The error broken means that the
// transaction cannot continue: some errors, such as a full disk, end it.
func (w *writer) inSavepoint(work func(*writer) error) (err, fatal error) {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, `SAVEPOINT change`); err != nil {
		return nil, err
	}
	if err = work(w); err != nil {
		if _, fatal = w.conn.ExecContext(ctx, `ROLLBACK TO change`); fatal != nil {
			return err, fmt.Errorf("%w (rollback: %w)", err, fatal)
		}
	}
	_, fatal = w.conn.ExecContext(ctx, `RELEASE change`)
	return err, fatal
}

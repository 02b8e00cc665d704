package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
)

// A change is work that waits for a transaction.
type change struct {
	ctx   context.Context
	doing string
	work  func(*writer) error // may be done twice, the first time undone
	err   error               // set when done is closed
	done  chan struct{}       // closed when it is committed, or has failed
}

// changeTogether is [Store.change] in one transaction with what else waits for its
// turn, so that one sync serves all. Work that fails undoes itself only.
func (s *Store) changeTogether(ctx context.Context, doing string, work func(*writer) error) error {
	c := &change{ctx: ctx, doing: doing, work: work, done: make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, c)
	s.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		func() {
			defer func() { <-s.turn }()
			runtime.Gosched() // for those to join who were started together with this one
			s.commitWaiting()
		}()
	case <-c.done:
	case <-ctx.Done():
		if s.withdraw(c) {
			return s.failed(ctx, doing, ctx.Err())
		}
	}
	<-c.done
	return c.err
}

// withdraw reports whether a change still waited, and no longer does.
func (s *Store) withdraw(c *change) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.waiting {
		if w == c {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// commitWaiting commits all that waits, for whoever has the turn. How much it is
// is bounded by how many call at once.
func (s *Store) commitWaiting() {
	s.mu.Lock()
	changes := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	defer func() {
		for _, c := range changes {
			close(c.done)
		}
	}()
	for _, c := range changes {
		c.err = errPanic // unless we get to the end
	}
	switch len(changes) {
	case 0:
	case 1:
		c := changes[0]
		c.err = s.failed(c.ctx, c.doing, s.transact(c.ctx, c.work))
	default:
		s.commit(changes)
	}
}

var errPanic = errors.New("what was to be written with it panicked")

// whileOneWaits returns a context that ends when those of all changes have: nobody
// is left to wait then, for a file that another has locked, say.
func whileOneWaits(changes []*change) (ctx context.Context, end func()) {
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

// commit commits the changes, in one go if none fails, as nearly always. If one does,
// they are done once more, each apart: for that SQLite copies every page that they
// change, as much as it writes. If the transaction as a whole fails, it does for all.
func (s *Store) commit(changes []*change) {
	ctx, end := whileOneWaits(changes)
	defer end()
	if s.transact(ctx, inOneGo(changes)) == nil {
		for _, c := range changes {
			c.err = nil
		}
		return
	}
	err := s.transact(ctx, func(w *writer) error {
		for _, c := range changes {
			var broken error
			if c.err, broken = w.apart(c.work); broken != nil {
				return broken
			}
		}
		return nil
	})
	for _, c := range changes {
		if err != nil {
			c.err = err
		}
		c.err = s.failed(c.ctx, c.doing, c.err)
	}
}

// inOneGo does all of the changes, or none.
func inOneGo(changes []*change) func(*writer) error {
	return func(w *writer) error {
		for _, c := range changes {
			if err := c.work(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// apart does work that is undone alone if it fails. Broken is why the transaction
// can't go on: some errors, as of a full disk, end all of it.
func (w *writer) apart(work func(*writer) error) (err, broken error) {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, `SAVEPOINT apart`); err != nil {
		return nil, err
	}
	if err = work(w); err != nil {
		if _, broken = w.conn.ExecContext(ctx, `ROLLBACK TO apart`); broken != nil {
			return err, fmt.Errorf("%w (and then: %w)", err, broken)
		}
	}
	_, broken = w.conn.ExecContext(ctx, `RELEASE apart`)
	return err, broken
}

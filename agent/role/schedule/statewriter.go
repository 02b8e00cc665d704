package schedule

import (
	"context"
	"sync"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// changes are changes of the schedule's states to write.
type changes struct {
	removed []string              // IDs of feeds whose states are deleted before
	states  []*subjects.FeedState // are written, up to [mesh.MaxEntry] all or none
}

// A stateWriter writes the schedule's states to their journal. Changes during a write are combined into the next one.
type stateWriter struct {
	mesh    *mesh.Mesh
	journal *mesh.Journal
	lock    sync.Locker                         // protects the states
	state   func(feedID string) *subjects.State // of a feed, or nil; with the lock held
	turn    chan struct{}                       // holds a value during a write

	mu   sync.Mutex
	next *pendingWrite
}

// A pendingWrite collects the changes of one write.
type pendingWrite struct {
	all  []changes
	done chan struct{} // closed after the write, or its failure
	err  error
}

func newStateWriter(m *mesh.Mesh, lock sync.Locker, state func(feedID string) *subjects.State) *stateWriter {
	return &stateWriter{mesh: m, lock: lock, state: state, turn: make(chan struct{}, 1)}
}

// write returns after the states, as of the call or later, are in the journal. The caller must not hold their
// lock.
func (w *stateWriter) write(ctx context.Context, c changes) error {
	if len(c.states) == 0 && len(c.removed) == 0 {
		return nil
	}
	w.mu.Lock()
	if w.next == nil {
		w.next = &pendingWrite{done: make(chan struct{})}
	}
	batch := w.next
	batch.all = append(batch.all, c)
	w.mu.Unlock()
	select {
	case <-batch.done: // another caller wrote the batch
	case w.turn <- struct{}{}:
		w.writeNext(context.WithoutCancel(ctx))
		<-w.turn
	}
	<-batch.done
	return batch.err
}

// writeNext performs the pending write, if any. The caller holds the turn.
func (w *stateWriter) writeNext(ctx context.Context) {
	w.mu.Lock()
	now := w.next
	w.next = nil
	w.mu.Unlock()
	if now != nil {
		now.err = w.put(ctx, now.all)
		close(now.done)
	}
}

func (w *stateWriter) put(ctx context.Context, all []changes) error {
	removed := map[string]bool{}
	for _, c := range all {
		for _, id := range c.removed {
			removed[id] = true
			if err := w.mesh.DeletePolls(ctx, id); err != nil {
				return err
			}
		}
	}
	none := make([]subjects.FeedState, 0, len(removed))
	for id := range removed {
		none = append(none, subjects.FeedState{FeedID: id})
	}
	if err := w.journal.Put(ctx, none, w.current); err != nil {
		return err
	}
	for _, some := range batches(all) {
		if err := w.putStates(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// batches returns the states to write, each once, with atomic changes in one batch, and without states of
// feeds that are removed later.
func batches(all []changes) (out [][]*subjects.FeedState) {
	removals := map[string]int{} // index of the change that removes the feed
	for i, c := range all {
		for _, id := range c.removed {
			removals[id] = i
		}
	}
	seen := map[string]bool{}
	for i, c := range all {
		var kept []*subjects.FeedState
		for _, s := range c.states {
			last, dropped := removals[s.FeedID]
			if !seen[s.FeedID] && (!dropped || last <= i) {
				seen[s.FeedID] = true
				kept = append(kept, s)
			}
		}
		for len(kept) > mesh.MaxEntry { // no atomic change is this large
			out, kept = append(out, kept[:mesh.MaxEntry]), kept[mesh.MaxEntry:]
		}
		if n := len(out) - 1; n >= 0 && len(out[n])+len(kept) <= mesh.MaxEntry {
			out[n] = append(out[n], kept...)
		} else if len(kept) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

// putStates writes the current values of states. They may change during the write; each change triggers
// another write.
func (w *stateWriter) putStates(ctx context.Context, states []*subjects.FeedState) error {
	copies := make([]subjects.FeedState, len(states))
	w.lock.Lock()
	for i, s := range states {
		state := *s.State
		copies[i] = *s
		copies[i].State = &state
	}
	w.lock.Unlock()
	if err := w.journal.Put(ctx, copies, w.current); err != nil {
		return err
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, s := range states {
		s.Written = time.Time{}
	}
	return nil
}

// current returns a copy of the state of a feed, or nil.
func (w *stateWriter) current(feedID string) *subjects.State {
	w.lock.Lock()
	defer w.lock.Unlock()
	state := w.state(feedID)
	if state == nil {
		return nil
	}
	now := *state
	return &now
}

package schedule

import (
	"context"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// changes are changes of the schedule's states to write.
type changes struct {
	removed []string              // IDs of feeds whose states are deleted before
	states  []*subjects.FeedState // are written
	atomic  bool                  // up to [mesh.MaxPutBatch] states are written in one transaction
}

// minBatchStates is the number of states up to which they are written one by one if allowed: a batch costs
// the server as much as about so many writes, mostly for its staging files.
const minBatchStates = 8

// A stateWriter writes the schedule's states to their bucket. Changes during a write are combined into the
// next one, which takes a few syncs for any number of states.
type stateWriter struct {
	mesh *mesh.Mesh
	lock sync.Locker   // protects the states
	turn chan struct{} // holds a value during a write

	mu   sync.Mutex
	next *pendingWrite
}

// A pendingWrite collects the changes of one write.
type pendingWrite struct {
	all  []changes
	done chan struct{} // closed after the write, or its failure
	err  error
}

func newStateWriter(m *mesh.Mesh, lock sync.Locker) *stateWriter {
	return &stateWriter{mesh: m, lock: lock, turn: make(chan struct{}, 1)}
}

// write returns after the states, as of the call or later, are in the bucket. The caller must not hold their
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
	for _, c := range all {
		for _, id := range c.removed {
			if err := w.mesh.DeleteState(ctx, id); err != nil {
				return err
			}
		}
	}
	together := slices.ContainsFunc(all, func(c changes) bool { return c.atomic })
	for _, some := range batches(all) {
		size := len(some)
		if size <= minBatchStates && !together {
			size = 1
		}
		for batch := range slices.Chunk(some, size) {
			if err := w.putStates(ctx, batch); err != nil {
				return err
			}
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
		for len(kept) > mesh.MaxPutBatch { // no atomic change is this large
			out, kept = append(out, kept[:mesh.MaxPutBatch]), kept[mesh.MaxPutBatch:]
		}
		if n := len(out) - 1; n >= 0 && len(out[n])+len(kept) <= mesh.MaxPutBatch {
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
	if err := w.mesh.PutStates(ctx, copies); err != nil {
		return err
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	for i, s := range states {
		s.Revision, s.Written = copies[i].Revision, time.Time{}
	}
	return nil
}

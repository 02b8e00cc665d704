package role

import (
	"context"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// changes is what is to be written of the schedule.
type changes struct {
	gone     []string              // IDs of feeds to be forgotten, before
	states   []*subjects.FeedState // are written
	together bool                  // of up to [mesh.MaxBatch] states all or none are written
}

// fewStates is how many states are written one by one, if they may be: a batch
// costs the server as much as about so many writes, most of it for files that it
// stages the batch in.
const fewStates = 8

// A stateWriter keeps the schedule's states in their bucket. What changes while it
// writes goes with the next write: that is a few syncs, however much there is.
type stateWriter struct {
	mesh *mesh.Mesh
	lock sync.Locker   // of the states
	turn chan struct{} // holds a value while someone writes

	mu   sync.Mutex
	next *writing
}

// A writing is what is written at once.
type writing struct {
	all  []changes
	done chan struct{} // closed when it is written, or has failed
	err  error
}

func newStateWriter(m *mesh.Mesh, lock sync.Locker) *stateWriter {
	return &stateWriter{mesh: m, lock: lock, turn: make(chan struct{}, 1)}
}

// write returns when the states are in the bucket as they were when it was called,
// or later ones. The caller does not hold their lock.
func (w *stateWriter) write(ctx context.Context, c changes) error {
	if len(c.states) == 0 && len(c.gone) == 0 {
		return nil
	}
	w.mu.Lock()
	if w.next == nil {
		w.next = &writing{done: make(chan struct{})}
	}
	own := w.next
	own.all = append(own.all, c)
	w.mu.Unlock()
	select {
	case <-own.done: // others wrote it
	case w.turn <- struct{}{}:
		w.writeNext(context.WithoutCancel(ctx))
		<-w.turn
	}
	<-own.done
	return own.err
}

// writeNext writes what waits, if anything does; the caller has the turn.
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
		for _, id := range c.gone {
			if err := w.mesh.DropState(ctx, id); err != nil {
				return err
			}
		}
	}
	together := slices.ContainsFunc(all, func(c changes) bool { return c.together })
	for _, some := range batches(all) {
		size := len(some)
		if size <= fewStates && !together {
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

// batches returns the states to be written, each once and what belongs together in
// one batch, without those of feeds that are to be forgotten after them.
func batches(all []changes) (out [][]*subjects.FeedState) {
	gone := map[string]int{} // after which of all
	for i, c := range all {
		for _, id := range c.gone {
			gone[id] = i
		}
	}
	seen := map[string]bool{}
	for i, c := range all {
		var kept []*subjects.FeedState
		for _, s := range c.states {
			last, dropped := gone[s.FeedID]
			if !seen[s.FeedID] && (!dropped || last <= i) {
				seen[s.FeedID] = true
				kept = append(kept, s)
			}
		}
		for len(kept) > mesh.MaxBatch { // nobody needs so many all or none
			out, kept = append(out, kept[:mesh.MaxBatch]), kept[mesh.MaxBatch:]
		}
		if n := len(out) - 1; n >= 0 && len(out[n])+len(kept) <= mesh.MaxBatch {
			out[n] = append(out[n], kept...)
		} else if len(kept) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

// putStates writes states as they are now. They may change meanwhile: who changes
// them has them written again.
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

package work

import (
	"context"
	"time"

	"feedmesh/agent/mesh"
)

// MaxRest is the interval of polls at rest: an announcement may be missing, such as that of another process which writes to the
// file of the store.
const MaxRest = 10 * time.Second

// changes announces changes of the store, as [storage.Store] does.
type changes interface{ Changed() <-chan struct{} }

// Poll calls do now, at once when wake receives, and otherwise at most once an interval, until ctx ends or do fails: after changes of the
// store, after MaxRest, and at each interval if do reports more work or if the store does not announce its changes.
func Poll(ctx context.Context, store changes, interval time.Duration, wake <-chan struct{}, do func(ctx context.Context) (more bool, err error)) error {
	for ctx.Err() == nil {
		changed := store.Changed() // before the call: a change meanwhile is the reason for the next one
		more, err := do(ctx)
		if err != nil {
			return err
		}
		most := interval
		if !more {
			most += mesh.UntilTick(MaxRest)
		}
		Rest(ctx, changed, interval, most, wake)
	}
	return nil
}

// Rest waits until wake receives, or, after the least time, until changed is closed or the most time is over. A nil changed stands for a
// store that does not announce its changes: then Rest waits for the least time. It returns early if ctx ends.
func Rest(ctx context.Context, changed <-chan struct{}, least, most time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(least)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-wake:
		return
	case <-timer.C:
	}
	if changed == nil || most <= least {
		return
	}
	timer.Reset(most - least)
	select {
	case <-ctx.Done():
	case <-wake:
	case <-changed:
	case <-timer.C:
	}
}

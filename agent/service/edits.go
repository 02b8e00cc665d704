package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/subjects"
)

const (
	// EditSchema is the first schema version with manual edits of stories.
	EditSchema = 3

	// defaultEditTimeout is the time a response waits until the store shows an edit.
	defaultEditTimeout = 5 * time.Second
)

// ErrOlderAgent reports that an older agent in the mesh does not support manual edits.
var ErrOlderAgent = errors.New("the mesh contains an agent of an older version that does not support this: update or stop it, then retry")

// pendingNote is the note of a response that was sent before the edit was applied.
const pendingNote = "the edit is accepted and will be applied when the cluster actor of its language processes it; this is the current state"

// An editor applies manual edits of stories and duplicates.
type editor struct {
	*core
	Timeout time.Duration // for the store to show an edit
}

// apply publishes an edit to the cluster actor of a language, and waits until the store shows it; pending
// reports a timeout.
func (e *editor) apply(ctx context.Context, partition string, edit subjects.Override, done func(ctx context.Context) (bool, error)) (pending bool, err error) {
	if e.Mesh.Schema(ctx) < EditSchema {
		return false, ErrOlderAgent
	}
	edit.ID = nuid.Next()
	if err := subjects.Publish(ctx, e.Mesh, subjects.ClusterQueue, subjects.Cluster{Partition: partition, Override: &edit}); err != nil {
		return false, fmt.Errorf("%s: %w", edit.Kind, err)
	}
	enough := time.NewTimer(e.Timeout)
	defer enough.Stop()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 300*time.Millisecond) {
		if is, err := done(ctx); is || err != nil {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-enough.C:
			return true, nil
		case <-time.After(wait):
		}
	}
}

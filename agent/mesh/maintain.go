package mesh

import (
	"context"
	"sync"
	"time"

	"feedmesh/subjects"
)

const (
	replicaInterval = 30 * time.Second
	aloneDeclare    = 2 * time.Minute // the same for a process that is alone: only a damaged stream may be missing
	purgeInterval   = 15 * time.Second
)

// MaintainStreams maintains the streams until ctx ends: it quarantines dead letters, purges acknowledged
// tasks that a server crash restored, and adds replicas on servers that joined. Several agents may run it.
// Its NATS user needs the permission to change all streams.
func (m *Mesh) MaintainStreams(ctx context.Context) error {
	var group sync.WaitGroup
	interval := replicaInterval
	if m.alone {
		interval = aloneDeclare
	}
	group.Go(func() {
		for sleep(ctx, UntilTick(interval)) {
			m.redeclare(ctx)
		}
	})
	group.Go(func() {
		for sleep(ctx, UntilTick(purgeInterval)) {
			m.purgeAcknowledged(ctx)
		}
	})
	// Tasks whose last attempt neither succeeded nor failed, because the agent crashed or hung.
	err := Serve(ctx, m, subjects.DeadLetterQueue, "", ActorFunc[subjects.DeadLetter](m.deadLetter), 1)
	group.Wait()
	return err
}

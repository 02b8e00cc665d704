package mesh

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// clusterReplicas is the number of replicas in a cluster; one of their servers may fail.
const clusterReplicas = 3

// declare declares the streams and buckets with as many replicas as the servers support. With fewer than
// three servers that is one: with two replicas, the mesh would stop if either server failed.
func (m *Mesh) declare(ctx context.Context) (replicas int, err error) {
	return m.declareWith(ctx, true)
}

// clusterTimeout is how long servers that start together may take to form a cluster. A stream declared before
// has one replica and gets more later, but its consumers may stay on the first server.
const clusterTimeout = 10 * time.Second

// declareWith is declare; without allowFewer it fails if the cluster has too few servers.
func (m *Mesh) declareWith(ctx context.Context, allowFewer bool) (replicas int, err error) {
	ctx = perRequestTimeout(ctx)
	if m.conn.ConnectedClusterName() != "" {
		err := subjects.Declare(ctx, m.js, clusterReplicas)
		if !tooFewServers(err) || !allowFewer {
			return clusterReplicas, err
		}
	}
	return 1, subjects.Declare(ctx, m.js, 1)
}

// tooFewServers reports whether a stream can't be created because the cluster has too few servers at present.
func tooFewServers(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == 10005 || api.ErrorCode == 10074)
}

// awaitStreams declares the streams. It waits while the servers form a cluster, and while this agent lacks
// the permission and no other agent has declared them.
func (m *Mesh) awaitStreams(ctx context.Context) error {
	logged := ""
	for started := time.Now(); ; {
		_, err := m.declareWith(ctx, time.Since(started) > clusterTimeout)
		var status string
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
			return fmt.Errorf("the NATS server has no JetStream: enable it there (jetstream {}): %w", err)
		case errors.Is(m.conn.LastError(), nats.ErrPermissionViolation):
			status = "no permission to declare streams: waiting for an agent that has it, for example with role schedule"
		case m.conn.ConnectedClusterName() != "" && (isUnavailable(err) || tooFewServers(err)):
			status = "waiting for the NATS cluster to be complete"
		default:
			return err
		}
		if status != logged {
			logged = status
			m.log.Warn(status, "err", err)
		}
		if !sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// isUnavailable reports whether the servers did not respond or are temporarily unable to.
func isUnavailable(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) ||
		errors.As(err, &api) && api.Code >= 500
}

// redeclare creates streams that were deleted. They are transport only, and their contents come again from
// the feeds. Concurrent callers share one attempt a second.
func (m *Mesh) redeclare(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.declared) < time.Second {
		return
	}
	defer func() { m.declared = time.Now() }()
	ctx, cancel := context.WithTimeout(ctx, 2*publishTimeout) // other callers wait for the lock
	defer cancel()
	if _, err := m.declare(ctx); err != nil {
		m.log.Warn("declare streams failed", "err", err)
	}
}

const (
	replicaInterval = 30 * time.Second
	purgeInterval   = 15 * time.Second
)

// MaintainStreams maintains the streams until ctx ends: it quarantines dead letters, purges acknowledged
// tasks that a server crash restored, and adds replicas on servers that joined. Several agents may run it.
// Its NATS user needs the permission to change all streams.
func (m *Mesh) MaintainStreams(ctx context.Context) error {
	var group sync.WaitGroup
	group.Go(func() {
		for sleep(ctx, replicaInterval) {
			m.redeclare(ctx)
		}
	})
	group.Go(func() {
		for sleep(ctx, purgeInterval) {
			m.purgeAcknowledged(ctx)
		}
	})
	err := m.quarantineDeadLetters(ctx)
	group.Wait()
	return err
}

// purgeAcknowledged removes acknowledged tasks from their queues. A server that is killed may lose the
// removals of the last seconds, while its consumers keep the acknowledgements: such tasks would never be
// delivered and would fill the queue.
func (m *Mesh) purgeAcknowledged(ctx context.Context) {
	for _, name := range subjects.QueueNames {
		stream, err := m.js.Stream(ctx, name)
		if err != nil {
			continue // the queue's workers report it
		}
		state := stream.CachedInfo().State
		if state.Msgs == 0 {
			continue
		}
		for consumer := range stream.ListConsumers(ctx).Info() {
			if state.FirstSeq > consumer.AckFloor.Stream {
				continue
			}
			if err := stream.Purge(ctx, jetstream.WithPurgeSubject(consumer.Config.FilterSubject), jetstream.WithPurgeSequence(consumer.AckFloor.Stream+1)); err != nil {
				m.log.Warn("purge of acknowledged tasks failed", "role", name, "err", err)
			}
		}
	}
}

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

// copies is how many servers of a cluster keep each stream: one of them may die.
const copies = 3

// declare declares the streams and buckets with as many copies as the servers can
// keep. Where those are fewer than three it is one: with two, the mesh would
// stand still if either died.
func (m *Mesh) declare(ctx context.Context) (replicas int, err error) {
	return m.declareWith(ctx, true)
}

// companyTime is how long servers that start together may need to find each other.
// What has one copy until then gets its others later, but who consumes it may stay
// on the one server that had it.
const companyTime = 10 * time.Second

// declareWith is declare, but that it fails where there are too few servers, unless
// few will do.
func (m *Mesh) declareWith(ctx context.Context, few bool) (replicas int, err error) {
	ctx = eachBounded(ctx)
	if m.conn.ConnectedClusterName() != "" {
		err := subjects.Declare(ctx, m.js, copies)
		if !lacksServers(err) || !few {
			return copies, err
		}
	}
	return 1, subjects.Declare(ctx, m.js, 1)
}

// lacksServers reports whether a stream can't be had because the cluster has too
// few servers at present.
func lacksServers(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == 10005 || api.ErrorCode == 10074)
}

// awaitStreams declares the streams, and waits for that while the servers of a
// cluster are looking for each other, or while this agent may not and no other
// agent has.
func (m *Mesh) awaitStreams(ctx context.Context) error {
	said := ""
	for began := time.Now(); ; {
		_, err := m.declareWith(ctx, time.Since(began) > companyTime)
		var why string
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
			return fmt.Errorf("the NATS server has no JetStream: enable it there (jetstream {}): %w", err)
		case errors.Is(m.conn.LastError(), nats.ErrPermissionViolation):
			why = "this agent's NATS user may not declare streams: waiting for an agent that may, as one with role schedule"
		case m.conn.ConnectedClusterName() != "" && (isAway(err) || lacksServers(err)):
			why = "waiting for the cluster of NATS servers to be complete"
		default:
			return err
		}
		if why != said {
			said = why
			m.log.Warn(why, "err", err)
		}
		if !sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// isAway reports whether the servers did not answer, or can't now.
func isAway(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) ||
		errors.As(err, &api) && api.Code >= 500
}

// redeclare brings back streams that were deleted behind our back: they are
// transport, and what was in them comes again from the feeds. Many may miss them
// at once; one declares them, the others wait.
func (m *Mesh) redeclare(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.declared) < time.Second {
		return
	}
	defer func() { m.declared = time.Now() }()
	ctx, cancel := context.WithTimeout(ctx, 2*answerTime) // the others wait
	defer cancel()
	if _, err := m.declare(ctx); err != nil {
		m.log.Warn("can't declare the streams again", "err", err)
	}
}

const (
	growEvery  = 30 * time.Second
	sweepEvery = 15 * time.Second
)

// Tend keeps the queues in order until ctx ends: it moves the tasks that the
// server gave up on into quarantine, sweeps what a crash of the server left, and
// has the streams copied to servers that joined. Any number of agents may do so;
// their NATS user must be allowed to change all streams.
func (m *Mesh) Tend(ctx context.Context) error {
	var group sync.WaitGroup
	group.Go(func() {
		for sleep(ctx, growEvery) {
			m.redeclare(ctx)
		}
	})
	group.Go(func() {
		for sleep(ctx, sweepEvery) {
			m.sweep(ctx)
		}
	})
	err := m.keepQuarantine(ctx)
	group.Wait()
	return err
}

// sweep removes tasks that are done but still lie on their queue. A server that is
// killed forgets which messages of the last seconds it had removed, yet its
// consumers remember that they were acknowledged: nobody would ever get them,
// and in the end they would fill the queue.
func (m *Mesh) sweep(ctx context.Context) {
	for _, name := range subjects.QueueNames {
		stream, err := m.js.Stream(ctx, name)
		if err != nil {
			continue // whoever works on it says so
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
				m.log.Warn("can't sweep a queue", "role", name, "err", err)
			}
		}
	}
}

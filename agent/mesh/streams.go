package mesh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// clusterReplicas is the number of replicas in a cluster; one of their servers may fail.
const clusterReplicas = 3

// declare declares the streams and buckets with as many replicas as the servers support. With fewer than
// three servers that is one: with two replicas, the mesh would stop if either server failed.
func (c *client) declare(ctx context.Context) (replicas int, err error) {
	return c.declareWith(ctx, true)
}

// clusterTimeout is the timeout of servers that start together to form a cluster. A stream declared before has one
// replica and gets more later, but its consumers may stay on the first server.
const clusterTimeout = 10 * time.Second

// declareWith is declare; without allowFewer it fails if the cluster has too few servers.
func (c *client) declareWith(ctx context.Context, allowFewer bool) (replicas int, err error) {
	ctx = perRequestTimeout(ctx)
	if c.conn.ConnectedClusterName() != "" {
		err := subjects.Declare(ctx, c.declaring, clusterReplicas, c.newPartitions)
		if !tooFewServers(err) || !allowFewer {
			return clusterReplicas, err
		}
	}
	return 1, subjects.Declare(ctx, c.declaring, 1, c.newPartitions)
}

// tooFewServers reports whether a stream can't be created because the cluster has too few servers at present.
func tooFewServers(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == 10005 || api.ErrorCode == 10074)
}

// awaitStreams declares the streams. It waits while the servers do not respond or form a cluster, and while this agent
// lacks the permission and no other agent has declared them. It calls waiting, if not nil, with each reason.
func (c *client) awaitStreams(ctx context.Context, waiting func(error)) error {
	logged := ""
	for started := time.Now(); ; {
		_, err := c.declareWith(ctx, time.Since(started) > clusterTimeout)
		var status string
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
			return fmt.Errorf("the NATS server has no JetStream: enable it there (jetstream {}): %w", err)
		case errors.Is(c.conn.LastError(), nats.ErrPermissionViolation):
			status = "no permission to declare streams: waiting for an agent that has it, for example with role schedule"
		case c.conn.ConnectedClusterName() != "" && (IsUnavailable(err) || tooFewServers(err)):
			status = "waiting for the NATS cluster to be complete"
		case isTimeout(err):
			status = "waiting for the NATS server to respond"
		default:
			return err
		}
		if waiting != nil {
			waiting(fmt.Errorf("%s: %w", status, err))
		}
		if status != logged {
			logged = status
			c.log.Warn(status, "err", err)
		}
		if !sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// IsUnavailable reports whether the servers did not respond or are temporarily unable to.
func IsUnavailable(err error) bool {
	var api *jetstream.APIError
	var ofWatch *nats.APIError // a bucket is watched by the client's older API
	return isTimeout(err) || errors.As(err, &api) && api.Code >= 500 || errors.As(err, &ofWatch) && ofWatch.Code >= 500
}

func isTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}

// redeclare creates streams that were deleted. They are transport only, and their contents come again from
// the feeds. Concurrent callers share one attempt a second.
func (c *client) redeclare(ctx context.Context) {
	c.redeclaring.Lock()
	defer c.redeclaring.Unlock()
	if time.Since(c.declared) < time.Second {
		return
	}
	defer func() { c.declared = time.Now() }()
	ctx, cancel := context.WithTimeout(ctx, 2*publishTimeout) // other callers wait for the lock
	defer cancel()
	if _, err := c.declare(ctx); err != nil {
		c.log.Warn("declare streams failed", "err", err)
	}
}

package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"feedmesh/subjects"
)

// queues are the queues of the mesh.
type queues struct {
	*client
	recent *recentDepths
}

// DepthAge is the usual age up to which [queues.RecentDepths] returns a result again.
const DepthAge = time.Second

// recentDepths is the last result of [queues.RecentDepths].
type recentDepths struct {
	mu     sync.Mutex // held during a request
	at     time.Time
	depths []subjects.Depth
	err    error
}

// RecentDepths is [queues.Depths] of a moment that is at most so long ago: work at the same tick, and the partitions of the
// schedule in a process, share the requests.
func (q queues) RecentDepths(ctx context.Context, age time.Duration) ([]subjects.Depth, error) {
	r := q.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() || time.Since(r.at) > age {
		r.depths, r.err = q.Depths(context.WithoutCancel(ctx)) // the requests have timeouts
		r.at = time.Now()
	}
	return slices.Clone(r.depths), r.err
}

// Depths returns the backlog of each queue, in the order in which items pass them, followed by the
// quarantine.
func (q queues) Depths(ctx context.Context) ([]subjects.Depth, error) {
	ctx = perRequestTimeout(ctx)
	names := append(slices.Clone(subjects.QueueNames), subjects.QuarantineStream)
	depths := make([]subjects.Depth, len(names))
	var group errgroup.Group // together: an idle process is woken once
	for i, name := range names {
		group.Go(func() (err error) {
			depths[i], err = q.depth(ctx, name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return depths, nil
}

// depth returns the backlog of a queue.
func (q queues) depth(ctx context.Context, name string) (subjects.Depth, error) {
	stream, err := q.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return subjects.Depth{Queue: name}, nil
	}
	if err != nil {
		return subjects.Depth{}, fmt.Errorf("read the backlog of queue %s: %w", name, err)
	}
	state, cfg := stream.CachedInfo().State, stream.CachedInfo().Config
	d := subjects.Depth{Queue: name, Tasks: state.Msgs, Bytes: state.Bytes, Created: stream.CachedInfo().Created, Done: state.LastSeq - state.Msgs, Timeout: subjects.TimeoutOf(name)}
	if state.Msgs > 0 {
		d.Oldest = time.Since(state.FirstTime).Seconds()
	}
	d.Fill = float64(state.Bytes) / float64(cfg.MaxBytes)
	if cfg.MaxMsgs > 0 {
		d.Fill = max(d.Fill, float64(state.Msgs)/float64(cfg.MaxMsgs))
	}
	q.memory.add(&d)
	return d, nil
}

// RemoveBeyond removes the observations for partitions of the schedule from n on, which no process takes: the schedule had more of
// them before it was created again.
func (q queues) RemoveBeyond(ctx context.Context, n int) error {
	waiting, err := q.Waiting(ctx, subjects.ObserveQueue.Name)
	if err != nil {
		return err
	}
	for name, tasks := range waiting {
		if partition, err := strconv.Atoi(name); err == nil && partition < n {
			continue
		}
		q.log.Warn("observations of a partition that the schedule does not have removed", "partition", name, "tasks", tasks)
		if err := q.RemoveWaiting(ctx, subjects.ObserveQueue.Name, name); err != nil {
			return err
		}
	}
	return nil
}

// Waiting returns the number of tasks in each partition of a queue that has any, nested ones included. Tasks without a partition
// are left out.
func (q queues) Waiting(ctx context.Context, queue string) (map[string]uint64, error) {
	stream, err := q.js.Stream(perRequestTimeout(ctx), queue)
	var info *jetstream.StreamInfo
	if err == nil {
		info, err = stream.Info(perRequestTimeout(ctx), jetstream.WithSubjectFilter(queue+".>"))
	}
	if err != nil {
		return nil, fmt.Errorf("read the partitions of queue %s: %w", queue, err)
	}
	waiting := map[string]uint64{}
	for subject, tasks := range info.State.Subjects {
		waiting[strings.TrimPrefix(subject, queue+".")] = tasks
	}
	return waiting, nil
}

// RemoveWaiting removes the tasks in a partition of a queue.
func (q queues) RemoveWaiting(ctx context.Context, queue, partition string) error {
	subject := queue + "." + partition
	stream, err := q.js.Stream(perRequestTimeout(ctx), queue)
	if err == nil {
		err = stream.Purge(perRequestTimeout(ctx), jetstream.WithPurgeSubject(subject))
	}
	if err != nil {
		return fmt.Errorf("remove the tasks of %s: %w", subject, err)
	}
	return nil
}

// purgeAcknowledged removes acknowledged tasks from their queues. A server that is killed may lose the
// removals of the last seconds, while its consumers keep the acknowledgements: such tasks would never be
// delivered and would fill the queue.
func (q queues) purgeAcknowledged(ctx context.Context) {
	depths, err := q.RecentDepths(ctx, DepthAge)
	if err != nil {
		return // the queues' workers report it
	}
	for _, d := range depths {
		if d.Tasks == 0 || d.Queue == subjects.QuarantineStream {
			continue
		}
		name := d.Queue
		stream, err := q.js.Stream(ctx, name)
		if err != nil {
			continue
		}
		state := stream.CachedInfo().State
		for consumer := range stream.ListConsumers(ctx).Info() {
			if state.FirstSeq > consumer.AckFloor.Stream {
				continue
			}
			if err := stream.Purge(ctx, jetstream.WithPurgeSubject(consumer.Config.FilterSubject), jetstream.WithPurgeSequence(consumer.AckFloor.Stream+1)); err != nil {
				q.log.Warn("purge of acknowledged tasks failed", "role", name, "err", err)
			}
		}
	}
}

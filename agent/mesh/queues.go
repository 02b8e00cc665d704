package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// Depth is the backlog of a queue.
type Depth struct {
	Queue  string  `json:"queue"`
	Tasks  uint64  `json:"tasks"`
	Bytes  uint64  `json:"bytes"`
	Oldest float64 `json:"oldest_seconds"` // age of the oldest task; 0 if there is none
	Fill   float64 `json:"fill"`           // share of the queue's bounds in use, 0 to 1

	Created time.Time `json:"-"` // creation time of its stream, which is recreated after a loss
}

// Depths returns the backlog of each queue, in the order in which items pass them, followed by the
// quarantine.
func (m *Mesh) Depths(ctx context.Context) ([]Depth, error) {
	ctx = perRequestTimeout(ctx)
	var depths []Depth
	for _, name := range append(slices.Clone(subjects.QueueNames), subjects.QuarantineStream) {
		stream, err := m.js.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			depths = append(depths, Depth{Queue: name})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the backlog of queue %s: %w", name, err)
		}
		state, cfg := stream.CachedInfo().State, stream.CachedInfo().Config
		d := Depth{Queue: name, Tasks: state.Msgs, Bytes: state.Bytes, Created: stream.CachedInfo().Created}
		if state.Msgs > 0 {
			d.Oldest = time.Since(state.FirstTime).Seconds()
		}
		d.Fill = float64(state.Bytes) / float64(cfg.MaxBytes)
		if cfg.MaxMsgs > 0 {
			d.Fill = max(d.Fill, float64(state.Msgs)/float64(cfg.MaxMsgs))
		}
		depths = append(depths, d)
	}
	return depths, nil
}

// Heartbeat publishes the record of this agent.
func (m *Mesh) Heartbeat(ctx context.Context, a subjects.Agent) error {
	kv, err := m.bucket(ctx, subjects.AgentBucket)
	if err != nil {
		return err
	}
	data, err := json.Marshal(a)
	if err == nil {
		_, err = kv.Put(perRequestTimeout(ctx), a.ID, data)
	}
	if err != nil {
		return fmt.Errorf("write heartbeat of agent %s: %w", a.ID, err)
	}
	return nil
}

// Leave removes the record of this agent.
func (m *Mesh) Leave(ctx context.Context) error {
	kv, err := m.bucket(ctx, subjects.AgentBucket)
	if err != nil {
		return err
	}
	return kv.Purge(ctx, m.agent)
}

// Agents returns the agents in the mesh, by host and ID.
func (m *Mesh) Agents(ctx context.Context) ([]subjects.Agent, error) {
	agents, err := readAll[subjects.Agent](ctx, m, subjects.AgentBucket)
	if err != nil {
		return nil, err
	}
	list := make([]subjects.Agent, 0, len(agents))
	for _, a := range agents {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b subjects.Agent) int { return strings.Compare(a.Host+a.ID, b.Host+b.ID) })
	return list, nil
}

// Leases returns the leases by name.
func (m *Mesh) Leases(ctx context.Context) (map[string]subjects.Lease, error) {
	return readAll[subjects.Lease](ctx, m, subjects.LeaseBucket)
}

// readAll returns every value of a small bucket, by key.
func readAll[V any](ctx context.Context, m *Mesh, bucket string) (map[string]V, error) {
	kv, err := m.bucket(ctx, bucket)
	if err != nil {
		return nil, err
	}
	watcher, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("read bucket %s: %w", bucket, err)
	}
	defer watcher.Stop()
	values := map[string]V{}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case entry, open := <-watcher.Updates():
			if entry == nil || !open {
				return values, nil
			}
			var v V
			if err := json.Unmarshal(entry.Value(), &v); err != nil {
				return nil, fmt.Errorf("read %s of bucket %s: %w", entry.Key(), bucket, err)
			}
			values[entry.Key()] = v
		}
	}
}

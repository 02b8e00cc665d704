package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// While agents of two versions are in the mesh, tasks are written in the older schema, so that a newer agent
// can be replaced by an older one. Every agent publishes a heartbeat before it fetches tasks and watches
// those of the others. Follow-up tasks never have a newer schema than their task; so a crawler whose NATS
// user may not read the heartbeats is safe as well.

const (
	// newerSchemaDelay is the delay before a task of a newer schema is redelivered. It is short, because the
	// newer agent may be about to leave.
	newerSchemaDelay = 500 * time.Millisecond

	// maxNewerDeliveries bounds the deliveries of a task that are left to a newer agent.
	maxNewerDeliveries = 3
)

// deferToNewer returns the error for a task of a newer schema. At first the task is redelivered for a newer
// agent, which decodes all of it. If none takes it (it may have left, or be on standby while this agent is
// active), this agent handles the fields that it can decode: a newer schema only adds fields.
func deferToNewer(msg jetstream.Msg, err error) error {
	meta, metaErr := msg.Metadata()
	if metaErr != nil || meta.NumDelivered > maxNewerDeliveries {
		return nil
	}
	return RetryAfter(newerSchemaDelay, err)
}

// schemaKey is the context key of the schema version.
type schemaKey struct{}

// withSchema returns a context with the oldest schema version of the deliveries.
func withSchema(ctx context.Context, deliveries []delivery) context.Context {
	least := subjects.Schema
	for _, d := range deliveries {
		least = min(least, d.Schema)
	}
	return context.WithValue(ctx, schemaKey{}, least)
}

// Schema implements [subjects.Publisher].
func (m *Mesh) Schema(ctx context.Context) int {
	schema := subjects.Schema
	if oldest := m.oldestSchema.Load(); oldest > 0 {
		schema = min(schema, int(oldest))
	}
	if schemaLimit, ok := ctx.Value(schemaKey{}).(int); ok {
		schema = min(schema, schemaLimit)
	}
	return schema
}

// WatchAgents tracks the schema version that all agents in the mesh decode, and their roles, until ctx ends.
// An agent that does not state a version decodes version 1. Without the permission to read the heartbeats,
// the schema of received tasks applies.
func (m *Mesh) WatchAgents(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := m.watchAgents(ctx); err != nil && ctx.Err() == nil {
			m.log.Debug("watch of agents failed", "err", err)
		}
		sleep(ctx, subjects.AgentExpiry)
	}
	return nil
}

func (m *Mesh) watchAgents(ctx context.Context) error {
	kv, err := m.bucket(ctx, subjects.AgentBucket)
	if err != nil {
		return err
	}
	watcher, err := kv.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	agents := map[string]agentInfo{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, open := <-watcher.Updates():
			if !open {
				return errors.New("connection lost")
			}
			if entry != nil { // nil: all current values were read
				updateAgents(agents, entry)
				m.oldestSchema.Store(int64(oldestSchema(agents, time.Now())))
				otherRoles := rolesExcept(agents, m.agent, time.Now())
				m.otherRoles.Store(&otherRoles)
			}
		}
	}
}

// agentInfo is the last heartbeat of an agent.
type agentInfo struct {
	schema   int
	lastSeen time.Time
	roles    []string
}

func updateAgents(agents map[string]agentInfo, entry jetstream.KeyValueEntry) {
	var a subjects.Agent
	if entry.Operation() != jetstream.KeyValuePut || json.Unmarshal(entry.Value(), &a) != nil {
		delete(agents, entry.Key())
		return
	}
	agents[entry.Key()] = agentInfo{max(a.Schema, 1), time.Now(), a.Roles}
}

// oldestSchema returns the newest version that all agents with a current heartbeat decode.
func oldestSchema(agents map[string]agentInfo, now time.Time) int {
	least := subjects.Schema
	for _, a := range agents {
		if now.Sub(a.lastSeen) < subjects.AgentExpiry {
			least = min(least, a.schema)
		}
	}
	return least
}

// rolesExcept returns the roles of each agent with a current heartbeat, except one agent.
func rolesExcept(agents map[string]agentInfo, exclude string, now time.Time) (all [][]string) {
	for id, a := range agents {
		if id != exclude && now.Sub(a.lastSeen) < subjects.AgentExpiry {
			all = append(all, a.roles)
		}
	}
	return all
}

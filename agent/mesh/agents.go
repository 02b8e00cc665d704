package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// agents tracks the other agents of the mesh.
type agents struct {
	*client
	competition  *competition
	cordons      *cordons
	oldestSchema atomic.Int64               // newest schema version that all agents decode; 0 if not watched
	otherRoles   atomic.Pointer[[][]string] // roles of each other agent in the mesh; nil if not watched
}

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
func (a *agents) Schema(ctx context.Context) int {
	schema := subjects.Schema
	if oldest := a.oldestSchema.Load(); oldest > 0 {
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
func (a *agents) WatchAgents(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := a.watchAgents(ctx); err != nil && ctx.Err() == nil {
			a.log.Debug("watch of agents failed", "err", err)
		}
		sleep(ctx, subjects.AgentExpiry)
	}
	return nil
}

func (a *agents) watchAgents(ctx context.Context) error {
	kv, err := a.bucket(ctx, subjects.AgentBucket)
	if err != nil {
		return err
	}
	watcher, err := kv.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	current := map[string]agentInfo{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, open := <-watcher.Updates():
			if !open {
				return errors.New("connection lost")
			}
			if entry != nil { // nil: all current values were read
				updateAgents(current, entry)
				a.oldestSchema.Store(int64(oldestSchema(current, time.Now())))
				otherRoles := rolesExcept(current, a.agent, time.Now())
				a.otherRoles.Store(&otherRoles)
				a.competition.observe(current)
			}
		}
	}
}

// agentInfo is the last heartbeat of an agent.
type agentInfo struct {
	schema   int
	lastSeen time.Time
	roles    []string
	leases   []string // that it competes for
}

func updateAgents(agents map[string]agentInfo, entry jetstream.KeyValueEntry) {
	var a subjects.Agent
	if entry.Operation() != jetstream.KeyValuePut || json.Unmarshal(entry.Value(), &a) != nil {
		delete(agents, entry.Key())
		return
	}
	agents[entry.Key()] = agentInfo{max(a.Schema, 1), time.Now(), a.Roles, a.Leases}
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

// Heartbeat publishes the record of this agent, with the leases that it competes for. It reads its cordon before.
func (a *agents) Heartbeat(ctx context.Context, own subjects.Agent) error {
	a.cordons.follow(ctx, own.Name)
	kv, err := a.bucket(ctx, subjects.AgentBucket)
	if err != nil {
		return err
	}
	own.Leases, own.Cordoned = a.competition.leases()
	own.Drained = !a.intake.isOpen()
	data, err := json.Marshal(own)
	if err == nil {
		_, err = kv.Put(perRequestTimeout(ctx), own.ID, data)
	}
	if err != nil {
		return fmt.Errorf("write heartbeat of agent %s: %w", own.ID, err)
	}
	return nil
}

// Leave removes the record of this agent.
func (a *agents) Leave(ctx context.Context) error {
	kv, err := a.bucket(ctx, subjects.AgentBucket)
	if err != nil {
		return err
	}
	return kv.Purge(ctx, a.agent)
}

// Agents returns the agents in the mesh, by host and ID.
func (a *agents) Agents(ctx context.Context) ([]subjects.Agent, error) {
	byID, err := values[subjects.Agent]{client: a.client, bucket: subjects.AgentBucket}.all(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]subjects.Agent, 0, len(byID))
	for _, one := range byID {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b subjects.Agent) int { return strings.Compare(a.Host+a.ID, b.Host+b.ID) })
	return list, nil
}

// Serving returns the number of agents with the role that a queue is named after, with this one.
func (a *agents) Serving(queue string) int {
	n := 1
	if others := a.otherRoles.Load(); others != nil {
		for _, roles := range *others {
			if slices.Contains(roles, queue) {
				n++
			}
		}
	}
	return n
}

// joined reports whether every other agent that serves the second queue also serves the first.
func (a *agents) joined(first, second string) bool {
	others := a.otherRoles.Load()
	return others == nil || !slices.ContainsFunc(*others, func(roles []string) bool {
		return slices.Contains(roles, second) && !slices.Contains(roles, first)
	})
}

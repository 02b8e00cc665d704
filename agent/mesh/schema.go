package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// While agents of two versions are in the mesh, tasks are written in the older
// one, so that a newer agent can be replaced by an older one again. Every agent
// says that it is there before it takes a task, and sees the others come and go.
// What follows from a task is never written in a newer version than the task: so
// a crawler, whose NATS user may not see who is in the mesh, need not know.

const (
	// newerWait is how long a task of a newer agent's lies before it is delivered
	// again: not long, since that agent may be about to leave.
	newerWait = 500 * time.Millisecond

	// maxLeft is how often a task is left to a newer agent.
	maxLeft = 3
)

// leave returns what to answer for a task of a newer agent's. At first it is left
// to one, which would make all of it. If none takes it (it may have gone, or stand
// by while we are the one active actor), we do what we know of it: a newer version
// only adds to an older one.
func leave(msg jetstream.Msg, err error) error {
	meta, metaErr := msg.Metadata()
	if metaErr != nil || meta.NumDelivered > maxLeft {
		return nil
	}
	return Later(newerWait, err)
}

// schemaKey is the key of a context's version.
type schemaKey struct{}

// withSchema returns a context for work on the parcels.
func withSchema(ctx context.Context, parcels []parcel) context.Context {
	least := subjects.Schema
	for _, p := range parcels {
		least = min(least, subjects.SchemaOf(p.part.Data))
	}
	return context.WithValue(ctx, schemaKey{}, least)
}

// Schema implements [subjects.Publisher].
func (m *Mesh) Schema(ctx context.Context) int {
	schema := subjects.Schema
	if oldest := m.oldest.Load(); oldest > 0 {
		schema = min(schema, int(oldest))
	}
	if of, is := ctx.Value(schemaKey{}).(int); is {
		schema = min(schema, of)
	}
	return schema
}

// WatchAgents keeps track of which version of tasks all agents in the mesh read,
// until ctx ends. One that does not say reads the first. An agent whose NATS user
// may not see the others goes by the tasks it gets.
func (m *Mesh) WatchAgents(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := m.watchAgents(ctx); err != nil && ctx.Err() == nil {
			m.log.Debug("can't see who is in the mesh", "err", err)
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
	agents := map[string]known{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, open := <-watcher.Updates():
			if !open {
				return errors.New("the connection was lost")
			}
			if entry != nil { // else these were all there are
				note(agents, entry)
				m.oldest.Store(int64(oldest(agents, time.Now())))
				others := rolesOf(agents, m.agent, time.Now())
				m.others.Store(&others)
			}
		}
	}
}

// known is what is known of an agent's version and roles, and when it was last
// heard of.
type known struct {
	schema int
	heard  time.Time
	roles  []string
}

func note(agents map[string]known, entry jetstream.KeyValueEntry) {
	var a subjects.Agent
	if entry.Operation() != jetstream.KeyValuePut || json.Unmarshal(entry.Value(), &a) != nil {
		delete(agents, entry.Key())
		return
	}
	agents[entry.Key()] = known{max(a.Schema, 1), time.Now(), a.Roles}
}

// oldest returns the version that all agents read which are still heard of.
func oldest(agents map[string]known, now time.Time) int {
	least := subjects.Schema
	for _, a := range agents {
		if now.Sub(a.heard) < subjects.AgentExpiry {
			least = min(least, a.schema)
		}
	}
	return least
}

// rolesOf returns the roles of each agent but one that is still heard of.
func rolesOf(agents map[string]known, but string, now time.Time) (all [][]string) {
	for id, a := range agents {
		if id != but && now.Sub(a.heard) < subjects.AgentExpiry {
			all = append(all, a.roles)
		}
	}
	return all
}

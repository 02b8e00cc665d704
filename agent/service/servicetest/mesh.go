package servicetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Mesh is a mesh of one agent that records published tasks and executes none. Its maps are read without a lock.
type Mesh struct {
	States      map[string]*subjects.State      // by feed ID
	PollLog     map[string][]subjects.Poll      // by feed ID, newest first
	Proxies     map[string]*subjects.Proxy      // by proxy ID
	Hosts       map[string]*subjects.Host       // by name
	Rules       map[string]storage.RuleSet      // rule sets in use, by name
	Tasks       map[uint64]subjects.Quarantined // by sequence number
	Queues      []subjects.Depth                // returned by Depths
	Processes   []subjects.Agent                // returned by Agents
	Holders     map[string]subjects.Lease       // returned by Leases
	Cordoned    []subjects.Cordon               // returned by Cordons
	Events      chan subjects.Event             // delivered to subscribers; nil: none
	AgentSchema int                             // schema version that all agents decode; 0: the current version
	OnCluster   func(subjects.Message)          // called with each message to cluster, unless nil

	Broken   error // error of all methods
	Full     error // error of Publish
	Draining bool  // each call of Depths finds one task less in every queue

	Loads     int                // calls of LoadStates
	Decisions []string           // on quarantined tasks, such as "replay 3" and "drop 4"
	Published []subjects.Message // complete when the requests that publish have been answered
	mu        sync.Mutex         // guards Published and Queues
}

func newMesh(now time.Time) *Mesh {
	return &Mesh{
		States: map[string]*subjects.State{}, PollLog: map[string][]subjects.Poll{}, Proxies: map[string]*subjects.Proxy{}, Hosts: map[string]*subjects.Host{},
		Rules: map[string]storage.RuleSet{}, Tasks: map[uint64]subjects.Quarantined{},
		Queues:    []subjects.Depth{{Queue: "index", Tasks: 3, Bytes: 1 << 20, Oldest: 61.5, Fill: 0.25}, {Queue: "quarantine"}},
		Processes: []subjects.Agent{{ID: "a1", Host: "pi", Version: "1", Roles: []string{"crawl", "api"}, Started: now, Seen: now, Rules: map[string]int64{"prepare": 1}}},
		Holders:   map[string]subjects.Lease{subjects.ScheduleLease(0): {Agent: "a1", Host: "pi", Renewals: 7}},
	}
}

// Published returns the tasks published to a queue.
func Published[T subjects.Task](t testing.TB, m *Mesh, queue subjects.Queue[T]) []T {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []T
	for _, msg := range m.Published {
		if subjects.QueueOf(msg.Subject) != queue.Name {
			continue
		}
		task, err := queue.Decode(msg.Data)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, task)
	}
	return list
}

// Schema implements [service.Mesh], as the other methods do.
func (m *Mesh) Schema(context.Context) int { return cmp.Or(m.AgentSchema, subjects.Schema) }

// Publish records messages.
func (m *Mesh) Publish(_ context.Context, msgs ...subjects.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.Broken, m.Full, subjects.Encode(msgs)); err != nil {
		return err
	}
	m.Published = append(m.Published, msgs...)
	for _, msg := range msgs {
		if m.OnCluster != nil && subjects.QueueOf(msg.Subject) == subjects.ClusterQueue.Name {
			m.OnCluster(msg)
		}
	}
	return nil
}

// StatesOf returns the states of feeds, by feed ID.
func (m *Mesh) StatesOf(_ context.Context, ids ...string) (map[string]*subjects.State, error) {
	found := map[string]*subjects.State{}
	for _, id := range ids {
		if state := m.States[id]; state != nil {
			found[id] = state
		}
	}
	return found, m.Broken
}

// LoadStates calls each with all states.
func (m *Mesh) LoadStates(_ context.Context, each func(subjects.FeedState)) error {
	m.Loads++
	for id, s := range m.States {
		each(subjects.FeedState{FeedID: id, State: s})
	}
	return m.Broken
}

// Polls returns the polls of a feed.
func (m *Mesh) Polls(_ context.Context, id string) ([]subjects.Poll, error) {
	return m.PollLog[id], m.Broken
}

// Proxy returns the state of a proxy, or nil.
func (m *Mesh) Proxy(_ context.Context, id string) (*subjects.Proxy, error) {
	return m.Proxies[id], m.Broken
}

// Host returns the record of a host, or nil.
func (m *Mesh) Host(_ context.Context, name string) (*subjects.Host, error) {
	return m.Hosts[name], m.Broken
}

// PutRules stores the rules in use.
func (m *Mesh) PutRules(ctx context.Context, set string, newest func(context.Context) (storage.RuleSet, error)) error {
	rules, err := newest(ctx)
	m.Rules[set] = rules
	return errors.Join(err, m.Broken)
}

// SubscribeEvents calls each with the events sent to Events until ctx ends.
func (m *Mesh) SubscribeEvents(ctx context.Context, subscribed func(), each func(subjects.Event)) error {
	subscribed()
	for {
		select {
		case e := <-m.Events:
			each(e)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Single calls run immediately: its caller holds every lease.
func (m *Mesh) Single(ctx context.Context, _ string, run func(context.Context) error) error {
	return run(ctx)
}

// Depths returns Queues.
func (m *Mesh) Depths(context.Context) ([]subjects.Depth, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.Queues {
		if q := &m.Queues[i]; m.Draining && q.Tasks > 0 {
			q.Tasks--
		}
	}
	return slices.Clone(m.Queues), m.Broken
}

// Agents returns Processes.
func (m *Mesh) Agents(context.Context) ([]subjects.Agent, error) {
	return slices.Clone(m.Processes), m.Broken
}

// Leases returns Holders.
func (m *Mesh) Leases(context.Context) (map[string]subjects.Lease, error) {
	return maps.Clone(m.Holders), m.Broken
}

// IsAlone reports that there are other agents.
func (m *Mesh) IsAlone() bool { return false }

// Cordon adds a cordon.
func (m *Mesh) Cordon(_ context.Context, c subjects.Cordon) error {
	m.Cordoned = append(m.Cordoned, c)
	return m.Broken
}

// Uncordon removes a cordon.
func (m *Mesh) Uncordon(_ context.Context, name string) error {
	m.Cordoned = slices.DeleteFunc(m.Cordoned, func(c subjects.Cordon) bool { return c.Agent == name })
	return m.Broken
}

// Cordons returns Cordoned.
func (m *Mesh) Cordons(context.Context) ([]subjects.Cordon, error) {
	return slices.Clone(m.Cordoned), m.Broken
}

// Quarantined returns tasks in order of their numbers.
func (m *Mesh) Quarantined(_ context.Context, after uint64, limit int) ([]subjects.Quarantined, error) {
	var list []subjects.Quarantined
	for _, seq := range slices.Sorted(maps.Keys(m.Tasks)) {
		if seq > after && len(list) < limit {
			list = append(list, m.Tasks[seq])
		}
	}
	return list, m.Broken
}

// QuarantinedTask returns one task, or [mesh.ErrNoTask].
func (m *Mesh) QuarantinedTask(_ context.Context, seq uint64) (subjects.Quarantined, error) {
	q, is := m.Tasks[seq]
	if !is {
		return q, mesh.ErrNoTask
	}
	return q, m.Broken
}

// Replay removes a task, as if it had been published again, or returns [mesh.ErrNoTask].
func (m *Mesh) Replay(_ context.Context, seq uint64) error { return m.decide("replay", seq) }

// DeleteQuarantined removes a task, or returns [mesh.ErrNoTask].
func (m *Mesh) DeleteQuarantined(_ context.Context, seq uint64) error { return m.decide("drop", seq) }

func (m *Mesh) decide(what string, seq uint64) error {
	if _, is := m.Tasks[seq]; !is {
		return mesh.ErrNoTask
	}
	delete(m.Tasks, seq)
	m.Decisions = append(m.Decisions, fmt.Sprint(what, " ", seq))
	return m.Broken
}

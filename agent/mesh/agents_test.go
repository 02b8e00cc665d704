package mesh

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/embedded/embeddedtest"
	"feedmesh/subjects"
)

// came returns a delivery with the given schema version.
func came(data string) delivery {
	return delivery{Message: subjects.Message{Schema: subjects.SchemaOf([]byte(data))}}
}

func TestSchema_FollowUpsUseTaskVersion(t *testing.T) {
	t.Parallel()
	m := new(Mesh)
	own := fmt.Sprintf(`{"schema":%d,"task":{}}`, subjects.Schema)
	for _, test := range []struct {
		messages []delivery
		oldest   int64
		want     int
	}{
		{nil, 0, subjects.Schema},
		{[]delivery{came(own)}, 0, subjects.Schema},
		{[]delivery{came(own), came(`{"schema":0,"task":{}}`)}, 0, 0},
		{[]delivery{came(`{"stream":"crawl"}`)}, 0, subjects.Schema}, // messages of other streams have no schema
		{nil, int64(subjects.Schema) + 1, subjects.Schema},
	} {
		m.oldestSchema.Store(test.oldest)
		ctx := context.Background()
		if test.messages != nil {
			ctx = withSchema(ctx, test.messages)
		}
		if got := m.Schema(ctx); got != test.want {
			t.Errorf("%d messages, oldest schema in the mesh %d: got %d, want %d", len(test.messages), test.oldest, got, test.want)
		}
	}
}

func TestSchema_OldestAgentDetermines(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, test := range []struct {
		agents map[string]agentInfo
		want   int
	}{
		{nil, subjects.Schema},
		{map[string]agentInfo{"a": {subjects.Schema, now, nil, nil}, "b": {subjects.Schema + 1, now, nil, nil}}, subjects.Schema},
		{map[string]agentInfo{"a": {subjects.Schema, now, nil, nil}, "b": {subjects.Schema - 1, now.Add(-subjects.AgentExpiry + time.Second), nil, nil}}, subjects.Schema - 1},
		{map[string]agentInfo{"a": {subjects.Schema, now, nil, nil}, "b": {subjects.Schema - 1, now.Add(-subjects.AgentExpiry), nil, nil}}, subjects.Schema},
	} {
		if got := oldestSchema(test.agents, now); got != test.want {
			t.Errorf("with %+v: got %d, want %d", test.agents, got, test.want)
		}
	}
}

func TestSchema_WatchAgents(t *testing.T) {
	t.Parallel()
	conn := embeddedtest.Connect(t, embeddedtest.Start(t))
	m, err := Join(t.Context(), Options{Agent: "a", Conn: conn, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	go m.WatchAgents(t.Context())
	m.oldestSchema.Store(-1)
	if err := m.Heartbeat(t.Context(), subjects.Agent{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); m.oldestSchema.Load() != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("timeout: agent with the first schema version not detected within a minute")
		}
	}
	m.oldestSchema.Store(-1)
	if err := m.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); m.oldestSchema.Load() != int64(subjects.Schema); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("timeout: departure of the agent not detected within a minute")
		}
	}
}

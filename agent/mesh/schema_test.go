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

// came returns a parcel that came, as far as its version matters.
func came(data string) parcel { return parcel{part: subjects.Part{Data: []byte(data)}} }

func TestWhatFollowsFromATaskIsWrittenInItsVersion(t *testing.T) {
	t.Parallel()
	m := new(Mesh)
	own := fmt.Sprintf(`{"schema":%d,"task":{}}`, subjects.Schema)
	for _, test := range []struct {
		messages []parcel
		oldest   int64
		want     int
	}{
		{nil, 0, subjects.Schema},
		{[]parcel{came(own)}, 0, subjects.Schema},
		{[]parcel{came(own), came(`{"schema":0,"task":{}}`)}, 0, 0},
		{[]parcel{came(`{"stream":"crawl"}`)}, 0, subjects.Schema}, // others' messages say none
		{nil, int64(subjects.Schema) + 1, subjects.Schema},
	} {
		m.oldest.Store(test.oldest)
		ctx := context.Background()
		if test.messages != nil {
			ctx = withSchema(ctx, test.messages)
		}
		if got := m.Schema(ctx); got != test.want {
			t.Errorf("%d messages, all in the mesh read %d: got %d, want %d", len(test.messages), test.oldest, got, test.want)
		}
	}
}

func TestTheOldestAgentSaysInWhichVersionTasksAreWritten(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, test := range []struct {
		agents map[string]known
		want   int
	}{
		{nil, subjects.Schema},
		{map[string]known{"a": {subjects.Schema, now, nil}, "b": {subjects.Schema + 1, now, nil}}, subjects.Schema},
		{map[string]known{"a": {subjects.Schema, now, nil}, "b": {subjects.Schema - 1, now.Add(-subjects.AgentExpiry + time.Second), nil}}, subjects.Schema - 1},
		{map[string]known{"a": {subjects.Schema, now, nil}, "b": {subjects.Schema - 1, now.Add(-subjects.AgentExpiry), nil}}, subjects.Schema},
	} {
		if got := oldest(test.agents, now); got != test.want {
			t.Errorf("with %+v: got %d, want %d", test.agents, got, test.want)
		}
	}
}

func TestAgentsThatComeAndGoAreSeen(t *testing.T) {
	t.Parallel()
	conn := embeddedtest.Connect(t, embeddedtest.Start(t))
	m, err := Join(t.Context(), Options{Agent: "a", Conn: conn, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	go m.WatchAgents(t.Context())
	m.oldest.Store(-1)
	if err := m.Beat(t.Context(), subjects.Agent{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); m.oldest.Load() != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an agent that reads the first version only is not seen within 10 s")
		}
	}
	m.oldest.Store(-1)
	if err := m.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); m.oldest.Load() != int64(subjects.Schema); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is not seen within 10 s that the agent left")
		}
	}
}

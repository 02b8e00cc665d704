package mesh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// ruleRecorder records the rules that a watch received, in order.
type ruleRecorder struct {
	mu  sync.Mutex
	all []string // as in "2 text"
}

func (t *ruleRecorder) record(version int64, text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, fmt.Sprintf("%d %s", version, text))
}

func (t *ruleRecorder) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.all, ", ")
}

// watch watches a set until the test ends.
func watch(t *testing.T, m *mesh.Mesh, set string) *ruleRecorder {
	t.Helper()
	received := &ruleRecorder{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.WatchRules(ctx, set, received.record) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("watch ended with %v", err)
		}
	})
	return received
}

func rulesOf(version int64, text string) func(context.Context) (storage.RuleSet, error) {
	return func(context.Context) (storage.RuleSet, error) {
		return storage.RuleSet{Name: "prepare", Version: version, Text: []byte(text)}, nil
	}
}

func put(t *testing.T, m *mesh.Mesh, version int64, text string) {
	t.Helper()
	if err := m.PutRules(t.Context(), "prepare", rulesOf(version, text)); err != nil {
		t.Fatal(err)
	}
}

func (t *ruleRecorder) becomes(tt *testing.T, want string) {
	tt.Helper()
	// The client takes 20 s to detect that a bucket was created again.
	for deadline := time.Now().Add(time.Minute); t.String() != want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			tt.Fatalf("watch received %.200s, want %.200s", t, want)
		}
	}
}

func TestWatchRules_NotifiesAllWatchers(t *testing.T) {
	r := newRig(t)
	a := r.join("a")
	early := watch(t, r.join("b"), "prepare")
	other := watch(t, a, "classify")
	early.becomes(t, "0 ")
	put(t, a, 1, "one")
	began := time.Now()
	early.becomes(t, "0 , 1 one")
	if took := time.Since(began); took > 10*time.Second { // most take milliseconds
		t.Errorf("took %v, want an immediate notification", took)
	}
	late := watch(t, a, "prepare")
	late.becomes(t, "1 one")
	large := strings.Repeat("a rule \x00\xff\n", storage.MaxRules/11)
	put(t, r.join("c"), 2, large)
	put(t, a, 2, large) // as it is: nobody hears of it
	put(t, a, 3, "three")
	early.becomes(t, "0 , 1 one, 2 "+large+", 3 three")
	late.becomes(t, "1 one, 2 "+large+", 3 three")
	other.becomes(t, "0 ")
}

func TestPutRules_NotFoundIsIgnored(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	none := func(context.Context) (storage.RuleSet, error) { return storage.RuleSet{}, storage.ErrNotFound }
	if err := m.PutRules(t.Context(), "prepare", none); err != nil {
		t.Error(err)
	}
	unavailable := func(context.Context) (storage.RuleSet, error) { return storage.RuleSet{}, storage.ErrUnavailable }
	if err := m.PutRules(t.Context(), "prepare", unavailable); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	watch(t, m, "prepare").becomes(t, "0 ")
}

// Between read and write of one agent, another stores a newer version.
func TestPutRules_NeverActivatesOlderVersion(t *testing.T) {
	r := newRig(t)
	slow, fast := r.join("a"), r.join("b")
	put(t, slow, 1, "one")
	store := rulesOf(2, "two")
	reads := 0
	err := slow.PutRules(t.Context(), "prepare", func(ctx context.Context) (storage.RuleSet, error) {
		was := store
		if reads++; reads == 1 {
			store = rulesOf(3, "three")
			put(t, fast, 3, "three")
		}
		return was(ctx)
	})
	if err != nil || reads != 2 {
		t.Errorf("got %v and %d reads, want another read of the store", err, reads)
	}
	watch(t, fast, "prepare").becomes(t, "3 three")
	// A store restored from a backup decides, even with an older version.
	put(t, slow, 2, "another two")
	watch(t, fast, "prepare").becomes(t, "2 another two")
}

func TestWatchRules_SurvivesBucketDeletion(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: the client takes 20 s to detect the deletion")
	}
	r := newRig(t)
	m := r.join("a")
	received := watch(t, m, "prepare")
	received.becomes(t, "0 ")
	put(t, m, 1, "one")
	received.becomes(t, "0 , 1 one")
	js, err := jetstream.New(r.connect())
	if err == nil {
		err = js.DeleteStream(t.Context(), "KV_"+subjects.RuleBucket)
	}
	if err != nil {
		t.Fatal(err)
	}
	put(t, m, 1, "one") // as whoever has the store does now and then
	put(t, m, 2, "two")
	received.becomes(t, "0 , 1 one, 2 two")
}

func TestWatchRules_IgnoresEqualRules(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	received := watch(t, m, "prepare")
	received.becomes(t, "0 ")
	put(t, m, 1, "one")
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.KeyValue(t.Context(), subjects.RuleBucket)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := bucket.Get(t.Context(), "prepare")
	if err == nil {
		_, err = bucket.Put(t.Context(), "prepare", entry.Value())
	}
	if err == nil {
		err = bucket.Purge(t.Context(), "prepare")
	}
	if err != nil {
		t.Fatal(err)
	}
	put(t, m, 2, "two")
	received.becomes(t, "0 , 1 one, 2 two")
}

func TestWatchRules_SurvivesServerRestart(t *testing.T) {
	t.Parallel()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, MaxPayload: subjects.MaxMessage}
	first := runServer(t, o)
	join := func(agent string) *mesh.Mesh {
		conn, err := nats.Connect(first.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		m, err := mesh.Join(t.Context(), mesh.Options{Agent: agent, Conn: conn, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	received := watch(t, join("a"), "prepare")
	received.becomes(t, "0 ")
	put(t, join("b"), 1, "one")
	received.becomes(t, "0 , 1 one")
	o.Port = first.Addr().(*net.TCPAddr).Port
	first.Shutdown()
	first.WaitForShutdown()
	runServer(t, o)
	put(t, join("c"), 2, "two")
	began := time.Now()
	received.becomes(t, "0 , 1 one, 2 two")
	if took := time.Since(began); took > 15*time.Second { // the client alone takes 20 s
		t.Errorf("received after %v, want an immediate read after reconnecting", took)
	}
}

// runServer runs a server until the test ends.
func runServer(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS server not ready")
	}
	return s
}

func TestWatchRules_KeepsPreviousIfUnreadable(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	received := watch(t, m, "prepare")
	received.becomes(t, "0 ")
	put(t, m, 1, "one")
	received.becomes(t, "0 , 1 one")
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.KeyValue(t.Context(), subjects.RuleBucket)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"no JSON", `{"version":2,"text":"AAAA"}`, `{"version":2}`} {
		if _, err := bucket.Put(t.Context(), "prepare", []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	late := watch(t, r.join("b"), "prepare")
	late.becomes(t, "0 ")
	put(t, m, 3, "three") // in the place of what nobody can read
	received.becomes(t, "0 , 1 one, 3 three")
	late.becomes(t, "0 , 3 three")
}

func TestRules_DecompressionIsBounded(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	put(t, m, 1, string(bytes.Repeat([]byte{' '}, storage.MaxRules+1)))
	watch(t, m, "prepare").becomes(t, "0 ")
}

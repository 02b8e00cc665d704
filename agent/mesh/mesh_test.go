package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/embedded"
	"feedmesh/embedded/embeddedtest"
	"feedmesh/subjects"
)

// job is a task for tests.
type job struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
}

func (j job) ID() string { return j.Name }

// jobs returns a queue with short times on the stream of the index role, which these
// tests do not use.
func jobs() subjects.Queue[job] {
	return subjects.Queue[job]{
		Name: "index", Timeout: 2 * time.Second, AckWait: time.Second,
		MaxDeliver: 6, BackOff: []time.Duration{10 * time.Millisecond},
	}
}

// rig is a real server that tests can join.
type rig struct {
	t      testing.TB
	server *embedded.Server
}

func newRig(t testing.TB) *rig {
	t.Helper()
	if t, is := t.(*testing.T); is {
		t.Parallel()
	}
	return &rig{t, embeddedtest.Start(t)}
}

func (r *rig) connect() *nats.Conn {
	r.t.Helper()
	return embeddedtest.Connect(r.t, r.server)
}

func (r *rig) join(agent string) *mesh.Mesh {
	r.t.Helper()
	return meshtest.Join(r.t, r.connect(), agent)
}

// joinAlone joins as a process that is alone with its server.
func (r *rig) joinAlone() *mesh.Mesh {
	r.t.Helper()
	m, err := mesh.Join(r.t.Context(), mesh.Options{
		Agent: "a", Conn: r.connect(), Alone: true, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// serve serves the jobs until stop is called or the test ends; stop waits for the end.
func (r *rig) serve(m *mesh.Mesh, actor mesh.Actor[job]) (stop func()) {
	return r.running(func(ctx context.Context) error { return mesh.Serve(ctx, m, jobs(), "", actor, 2) })
}

// running runs a function until stop is called or the test ends; stop waits for the end.
func (r *rig) running(do func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := do(ctx); err != nil {
			r.t.Error(err)
		}
	})
	stop = func() { cancel(); wait.Wait() }
	r.t.Cleanup(stop)
	return stop
}

// deliveries returns the number of deliveries of the jobs.
func (r *rig) deliveries() uint64 {
	r.t.Helper()
	js, err := jetstream.New(r.connect())
	r.check(err)
	consumer, err := js.Consumer(r.t.Context(), jobs().Name, jobs().Name)
	r.check(err)
	return consumer.CachedInfo().Delivered.Consumer
}

func publish(t *testing.T, m *mesh.Mesh, js ...job) {
	t.Helper()
	for _, j := range js {
		if err := subjects.Publish(t.Context(), m, jobs(), j); err != nil {
			t.Fatal(err)
		}
	}
}

// eventually polls until state returns true, for at most 2 minutes.
func eventually(t testing.TB, what string, state func() bool) {
	t.Helper()
	within(t, 2*time.Minute, what, state)
}

// within waits until a state is reached, at most so long.
func within(t testing.TB, limit time.Duration, what string, state func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if state() {
			return
		}
	}
	t.Fatalf("timeout after %v: %s", limit, what)
}

func pendingCount(t testing.TB, m *mesh.Mesh, queue string) uint64 {
	t.Helper()
	depths, err := m.Depths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range depths {
		if d.Queue == queue {
			return d.Tasks
		}
	}
	t.Fatalf("queue %s not found", queue)
	return 0
}

func TestServe_TaskIsDoneOnce(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	var done atomic.Int32
	publish(t, m, job{Name: "x"}, job{Name: "x"}, job{Name: "y"}) // the second x is a duplicate
	r.serve(m, mesh.ActorFunc[job](func(context.Context, job) error { done.Add(1); return nil }))
	eventually(t, "queue empty", func() bool { return pendingCount(t, m, "index") == 0 })
	if got := done.Load(); got != 2 {
		t.Errorf("got %d tasks done, want 2", got)
	}
}

func TestServe_FailedTaskIsRetriedThenQuarantined(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	var tries sync.Map
	count := func(j job) int32 {
		n, _ := tries.LoadOrStore(j.Name, new(atomic.Int32))
		return n.(*atomic.Int32).Add(1)
	}
	publish(t, m, job{"heals", "heals"}, job{"never", "never"}, job{"panics", "panics"}, job{"drops", "drops"}, job{"later", "later"})
	r.serve(m, mesh.ActorFunc[job](func(_ context.Context, j job) error {
		n := count(j)
		switch {
		case j.Kind == "never":
			return errors.New("the moon is wrong")
		case j.Kind == "panics":
			panic("at the disco")
		case j.Kind == "drops":
			return mesh.Discard(errors.New("no use"))
		case j.Kind == "later" && n < 3:
			return mesh.RetryAfter(10*time.Millisecond, errors.New("not yet"))
		case j.Kind == "heals" && n < 3:
			return errors.New("still ill")
		}
		return nil
	}))
	eventually(t, "queue empty", func() bool { return pendingCount(t, m, "index") == 0 })
	for name, want := range map[string]int32{"heals": 3, "never": 6, "panics": 6, "drops": 1, "later": 3} {
		n, _ := tries.Load(name)
		if got := n.(*atomic.Int32).Load(); got != want {
			t.Errorf("%s: got %d attempts, want %d", name, got, want)
		}
	}
	list, err := m.Quarantined(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, q := range list {
		reasons[q.Task] = q.Reason
		if q.Attempts != 6 || q.Queue != "index" || q.Subject != "index" {
			t.Errorf("got %+v, want 6 attempts on queue index", q)
		}
	}
	if len(list) != 2 || reasons["never"] != "the moon is wrong" || !strings.Contains(reasons["panics"], "at the disco") {
		t.Errorf("got quarantine %v, want the tasks never and panics with their reasons", reasons)
	}
}

func TestQuarantine_ReplayAndDelete(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	var well atomic.Bool
	var done atomic.Int32
	publish(t, m, job{Name: "one"}, job{Name: "two"})
	r.serve(m, mesh.ActorFunc[job](func(context.Context, job) error {
		if !well.Load() {
			return errors.New("ill")
		}
		done.Add(1)
		return nil
	}))
	eventually(t, "both in quarantine", func() bool { return pendingCount(t, m, subjects.QuarantineStream) == 2 })
	list, err := m.Quarantined(t.Context(), 0, 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("got %v, %v; want two tasks", list, err)
	}
	page, err := m.Quarantined(t.Context(), list[0].Seq, 10)
	if err != nil || len(page) != 1 || page[0].Seq != list[1].Seq {
		t.Errorf("got page %v, %v after the first task; want the second", page, err)
	}
	task, err := m.QuarantinedTask(t.Context(), list[0].Seq)
	if err != nil || !strings.Contains(string(task.Message), list[0].Task) {
		t.Errorf("got %s, %v; want the complete task", task.Message, err)
	}
	well.Store(true)
	if err := m.Replay(t.Context(), list[0].Seq); err != nil {
		t.Fatal(err)
	}
	if err := m.DeleteQuarantined(t.Context(), list[1].Seq); err != nil {
		t.Fatal(err)
	}
	eventually(t, "replayed task done", func() bool { return done.Load() == 1 })
	if n := pendingCount(t, m, subjects.QuarantineStream); n != 0 {
		t.Errorf("got %d in quarantine, want 0", n)
	}
	for _, err := range []error{m.Replay(t.Context(), list[0].Seq), m.DeleteQuarantined(t.Context(), 999)} {
		if !errors.Is(err, mesh.ErrNoTask) {
			t.Errorf("got %v for a missing task, want ErrNoTask", err)
		}
	}
}

// A task that crashes its agents is never settled: only the server detects that its
// deliveries are exhausted.
func TestQuarantine_TaskThatCrashesItsAgents(t *testing.T) {
	r := newRig(t)
	m := r.join("keeper")
	queue := jobs()
	queue.MaxDeliver = 5
	publish(t, m, job{Name: "killer"})
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	cfg := queue.Consumer("")
	cfg.AckWait, cfg.BackOff = 100*time.Millisecond, nil
	consumer, err := js.CreateConsumer(t.Context(), queue.Name, cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { m.MaintainStreams(ctx) })
	defer wait.Wait()
	defer cancel()
	eventually(t, "in quarantine", func() bool {
		batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(200*time.Millisecond))
		if err == nil {
			for range batch.Messages() { // taken, and never heard of again
			}
		}
		return pendingCount(t, m, subjects.QuarantineStream) == 1
	})
	list, err := m.Quarantined(t.Context(), 0, 10)
	if err != nil || len(list) != 1 || list[0].Task != "killer" || !strings.Contains(list[0].Reason, "crashed") {
		t.Errorf("got %+v, %v; want killer, because its agents crashed", list, err)
	}
	if n := pendingCount(t, m, "index"); n != 0 {
		t.Errorf("got %d on the queue, want 0", n)
	}
}

func TestQuarantine_StoresUnreadableMessages(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	if err := m.Publish(t.Context(), subjects.Message{Subject: "index", ID: "bad", Data: []byte("no json")}); err != nil {
		t.Fatal(err)
	}
	r.serve(m, mesh.ActorFunc[job](func(context.Context, job) error { return nil }))
	eventually(t, "in quarantine", func() bool { return pendingCount(t, m, subjects.QuarantineStream) == 1 })
	q, err := m.QuarantinedTask(t.Context(), 1)
	if err != nil || q.Message != nil || string(q.Bytes) != "no json" {
		t.Errorf("got %s, %q, %v; want the original bytes", q.Message, q.Bytes, err)
	}
}

func TestServe_FinishesWorkInProgress(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	began, finish := make(chan struct{}), make(chan struct{})
	var done atomic.Int32
	publish(t, m, job{Name: "slow"})
	stop := r.serve(m, mesh.ActorFunc[job](func(ctx context.Context, _ job) error {
		close(began)
		<-finish
		if ctx.Err() != nil {
			return ctx.Err()
		}
		done.Add(1)
		return nil
	}))
	<-began
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	select {
	case <-stopped:
		t.Fatal("stopped before the work in progress was finished")
	case <-time.After(200 * time.Millisecond):
	}
	close(finish)
	<-stopped
	if done.Load() != 1 || pendingCount(t, m, "index") != 0 {
		t.Errorf("got %d done and %d waiting, want 1 and 0", done.Load(), pendingCount(t, m, "index"))
	}
}

// A process that is alone with its server waits long for tasks. It stops at once, and a task that the server still assigns to the
// fetch of a stopped worker goes to the next one.
func TestServe_StopsWhileAFetchWaits(t *testing.T) {
	r := newRig(t)
	m := r.joinAlone()
	queue := jobs()
	queue.AckWait = time.Hour // a lost task would not come again
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	waiting := func() int {
		consumer, err := js.Consumer(t.Context(), queue.Name, queue.Consumer("").Durable)
		if err != nil {
			return 0
		}
		return consumer.CachedInfo().NumWaiting
	}
	done := make(chan string, 1)
	serve := func() (stop func()) {
		return r.running(func(ctx context.Context) error {
			return mesh.Serve(ctx, m, queue, "", mesh.ActorFunc[job](func(_ context.Context, j job) error { done <- j.Name; return nil }), 2)
		})
	}
	stop := serve()
	eventually(t, "a worker waits", func() bool { return waiting() == 1 })
	began := time.Now()
	stop()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("stopped after %v, want at once", took)
	}
	if n := waiting(); n != 1 {
		t.Fatalf("%d fetches wait, want that of the stopped worker", n)
	}
	serve()
	eventually(t, "the next worker waits too", func() bool { return waiting() == 2 })
	publish(t, m, job{Name: "late"})
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the task was lost with the stopped worker")
	}
}

// AckWait is extended for a long task, and its attempt ends
// after Timeout.
func TestServe_LongTaskExtendsAckWaitUntilTimeout(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	var attempts atomic.Int32
	publish(t, m, job{Name: "long"})
	r.serve(m, mesh.ActorFunc[job](func(ctx context.Context, _ job) error {
		if attempts.Add(1) > 1 {
			return nil
		}
		began := time.Now()
		<-ctx.Done()
		if took := time.Since(began); took < jobs().Timeout-100*time.Millisecond || attempts.Load() != 1 {
			t.Errorf("first attempt ended after %v with %d attempts started, want %v and 1", took, attempts.Load(), jobs().Timeout)
		}
		return ctx.Err()
	}))
	eventually(t, "done at the second attempt", func() bool { return pendingCount(t, m, "index") == 0 })
}

type batcher struct {
	mu    sync.Mutex
	sizes []int
	done  map[string]int
}

func (b *batcher) ReceiveAll(_ context.Context, tasks []job) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sizes = append(b.sizes, len(tasks))
	for _, j := range tasks {
		if j.Kind == "bad" {
			return errors.New("bad")
		}
	}
	for _, j := range tasks {
		b.done[j.Name]++
	}
	return nil
}

func TestServeBatch_BadTaskDoesNotFailOthers(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	for i := range 30 {
		publish(t, m, job{Name: fmt.Sprint(i), Kind: map[bool]string{true: "bad"}[i == 7]})
	}
	b := &batcher{done: map[string]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	queue := jobs()
	queue.MaxBatch = 20
	wait.Go(func() { mesh.ServeBatch(ctx, m, queue, "", b, 1) })
	eventually(t, "queue empty", func() bool { return pendingCount(t, m, "index") == 0 })
	cancel()
	wait.Wait()
	if len(b.done) != 29 || b.sizes[0] != 20 {
		t.Errorf("got %d done and a first batch of %d, want 29 and 20", len(b.done), b.sizes[0])
	}
	if n := pendingCount(t, m, subjects.QuarantineStream); n != 1 {
		t.Errorf("got %d in quarantine, want 1", n)
	}
}

func TestPublish_WaitsWhileQueueIsFull(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "index")
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	cfg.MaxMsgs = 2
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	publish(t, m, job{Name: "1"}, job{Name: "2"})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := subjects.Publish(ctx, m, jobs(), job{Name: "3"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline exceeded", err)
	}
	published := make(chan error, 1)
	go func() { published <- subjects.Publish(t.Context(), m, jobs(), job{Name: "4"}) }()
	r.serve(m, mesh.ActorFunc[job](func(context.Context, job) error { return nil }))
	if err := <-published; err != nil {
		t.Errorf("got %v after space was freed, want nil", err)
	}
}

func TestStreams_RedeclaredAfterDeletion(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	var done atomic.Int32
	r.serve(m, mesh.ActorFunc[job](func(context.Context, job) error { done.Add(1); return nil }))
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	publish(t, m, job{Name: "before"})
	eventually(t, "the first done", func() bool { return done.Load() == 1 })
	if err := js.DeleteStream(t.Context(), "index"); err != nil {
		t.Fatal(err)
	}
	publish(t, m, job{Name: "after"})
	eventually(t, "the second done", func() bool { return done.Load() == 2 })
}

// A server that does not respond to declarations does not delay the check of the others: agents would count as away from
// NATS for as long.
func TestPing_RespondsDuringDeclarations(t *testing.T) {
	t.Parallel()
	deny := &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.CREATE.>", "$JS.API.STREAM.UPDATE.>"}}}
	s, err := server.NewServer(&server.Options{
		Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
		Users: []*server.User{{Username: "all"}, {Username: "limited", Permissions: deny}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	connect := func(user string) *nats.Conn {
		conn, err := nats.Connect(s.ClientURL(), nats.UserInfo(user, ""))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		return conn
	}
	meshtest.Join(t, connect("all"), "a")
	limited := connect("limited")
	m := meshtest.Join(t, limited, "b")
	js, err := jetstream.New(connect("all"))
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), "index"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var publishing sync.WaitGroup
	publishing.Go(func() { subjects.Publish(ctx, m, jobs(), job{Name: "x"}) })
	defer publishing.Wait()
	defer cancel()
	eventually(t, "the declaration denied", func() bool { return errors.Is(limited.LastError(), nats.ErrPermissionViolation) })
	began := time.Now()
	if err := m.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("got a response after %v, want at once", took)
	}
}

package mesh_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// stand lets an agent compete for a lease, and returns a function that stops it.
func stand(m *mesh.Mesh, name string, run func(ctx context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { m.Single(ctx, name, run) })
	return func() { cancel(); wait.Wait() }
}

func TestSingle_StandbyTakesOver(t *testing.T) {
	r := newRig(t)
	var active, most atomic.Int32
	var last atomic.Value
	run := func(who string) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			most.Store(max(most.Load(), active.Add(1)))
			last.Store(who)
			<-ctx.Done()
			active.Add(-1)
			return nil
		}
	}
	m := r.join("a")
	stopA := stand(m, "work", run("a"))
	eventually(t, "a is active", func() bool { return last.Load() == "a" })
	stopB := stand(r.join("b"), "work", run("b"))
	defer stopB()
	renewals := func() int64 {
		all, err := m.Leases(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all["work"].Renewals
	}
	before := renewals() // as often as b checks the lease
	eventually(t, "a has renewed its lease twice", func() bool { return renewals() >= before+2 })
	if last.Load() != "a" {
		t.Error("b became active while a is active")
	}
	stopA() // a gives its lease back
	released := time.Now()
	eventually(t, "b is active", func() bool { return last.Load() == "b" })
	if took := time.Since(released); took > 5900*time.Millisecond { // a lease that is not released expires after 6 s
		t.Errorf("took over %v after the lease was released, want no wait for its expiry", took)
	}
	if most.Load() != 1 {
		t.Errorf("got %d active at the same time, want 1", most.Load())
	}
}

func TestSingle_ActiveMetric(t *testing.T) {
	r := newRig(t)
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	m, err := mesh.Join(t.Context(), mesh.Options{Agent: "a", Conn: r.connect(), Log: slog.New(slog.DiscardHandler), Metrics: registry})
	if err != nil {
		t.Fatal(err)
	}
	told := func() string {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "feedmesh_active" {
				return f.Metric[0].Label[0].GetValue() + fmt.Sprint(f.Metric[0].Gauge.GetValue())
			}
		}
		return ""
	}
	kv, err := js.KeyValue(t.Context(), subjects.LeaseBucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.PutString(t.Context(), "work", `{"agent":"other","beat":1}`); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	stop := stand(m, "work", func(ctx context.Context) error { <-ctx.Done(); <-done; return nil })
	eventually(t, "it stands by", func() bool { return told() == "work0" })
	eventually(t, "it is active", func() bool { return told() == "work1" })
	if _, err := kv.PutString(t.Context(), "work", `{"agent":"other","beat":2}`); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has lost the lease, and what it has in hand does not matter", func() bool { return told() == "work0" })
	close(done)
	stop()
}

func TestSingle_ExpiredLeaseIsTakenOverWithin15s(t *testing.T) {
	r := newRig(t)
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	m := r.join("heir")
	kv, err := js.KeyValue(t.Context(), subjects.LeaseBucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.PutString(t.Context(), "work", `{"agent":"dead","beat":7}`); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	active := make(chan struct{})
	stop := stand(m, "work", func(ctx context.Context) error { close(active); <-ctx.Done(); return nil })
	defer stop()
	<-active
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("took over after %v, want less than 15 s", took)
	}
}

// No standby observes the leases of a process that is alone, so it renews them seldom, and for each new report of the schedule.
func TestSingle_AloneRenewsSeldom(t *testing.T) {
	r := newRig(t)
	m := r.joinAlone()
	reports := make(chan *mesh.ScheduleReport)
	stop := stand(m, subjects.ScheduleLease(0), func(ctx context.Context) error {
		for {
			select {
			case r := <-reports:
				mesh.ReportSchedule(ctx, r)
			case <-ctx.Done():
				return nil
			}
		}
	})
	defer stop()
	lease := func() subjects.Lease {
		all, err := m.Leases(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all[subjects.ScheduleLease(0)]
	}
	await := func(what string, is func(subjects.Lease) bool) (at time.Time) {
		t.Helper()
		eventually(t, what, func() bool { return is(lease()) })
		return time.Now()
	}
	await("it is held", func(l subjects.Lease) bool { return l.Renewals == 1 })
	reports <- &mesh.ScheduleReport{Feeds: &subjects.ScheduleCounts{Polled: 7}}
	reported := await("the report is published", func(l subjects.Lease) bool { return l.Feeds != nil && l.Feeds.Polled == 7 })
	if n := lease().Renewals; n != 2 {
		t.Errorf("renewed %d times for the first report, want once", n-1)
	}
	reports <- &mesh.ScheduleReport{Feeds: &subjects.ScheduleCounts{Polled: 7}} // nothing new
	renewed := await("it is renewed", func(l subjects.Lease) bool { return l.Renewals == 3 })
	if took := renewed.Sub(reported); took < 5*time.Second {
		t.Errorf("renewed after %v without a new report, want later", took)
	}
}

// What a holder reports is in its lease at the next tick; the next holder gets its notices.
func TestSingle_Reports(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	lease := func() subjects.Lease {
		all, err := m.Leases(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all[subjects.ScheduleLease(0)]
	}
	stopA := stand(m, subjects.ScheduleLease(0), func(ctx context.Context) error {
		mesh.ReportLimit(ctx, "half of it")
		mesh.ReportSchedule(ctx, &mesh.ScheduleReport{Progress: subjects.ScheduleProgress{Notices: []subjects.Notice{{Text: "corrected"}}}})
		<-ctx.Done()
		return nil
	})
	eventually(t, "the limit and the notices are in the lease", func() bool {
		l := lease()
		return l.Limit == "half of it" && l.Schedule != nil && len(l.Schedule.Notices) == 1 && l.Reason == subjects.LeaseOnly
	})
	stopA()
	got := make(chan []subjects.Notice, 1)
	defer stand(r.join("b"), subjects.ScheduleLease(0), func(ctx context.Context) error {
		got <- mesh.Notices(ctx)
		<-ctx.Done()
		return nil
	})()
	if notices := <-got; len(notices) != 1 || notices[0].Text != "corrected" {
		t.Errorf("the next holder got %v, want the notices of the first", notices)
	}
	if l := lease(); l.Agent != "b" || l.Limit != "" || l.Schedule == nil || len(l.Schedule.Notices) != 1 {
		t.Errorf("got %+v, want the notices of the first, and no limit", l)
	}
}

func TestSingle_LostLeaseCancelsHolder(t *testing.T) {
	r := newRig(t)
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	m := r.join("holder")
	active, stopped := make(chan struct{}, 9), make(chan struct{}, 9)
	stop := stand(m, "work", func(ctx context.Context) error {
		active <- struct{}{}
		<-ctx.Done()
		stopped <- struct{}{}
		return nil
	})
	defer stop()
	<-active
	kv, err := js.KeyValue(t.Context(), subjects.LeaseBucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.PutString(t.Context(), "work", `{"agent":"thief","beat":1}`); err != nil {
		t.Fatal(err)
	}
	select {
	case <-stopped:
	case <-time.After(10 * time.Second):
		t.Fatal("still active 10 s after its lease was taken")
	}
}

// A holder whose lease was lost while it had a task leaves it to the next holder.
func TestSingle_LostLeaseLeavesTasks(t *testing.T) {
	r := newRig(t)
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	m := r.join("holder")
	kv, err := js.KeyValue(t.Context(), subjects.LeaseBucket)
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan struct{}, 9)
	defer stand(m, "work", func(ctx context.Context) error {
		return mesh.Serve(ctx, m, jobs(), "", mesh.ActorFunc[job](func(context.Context, job) error {
			taken <- struct{}{}
			<-ctx.Done() // the task is done only after the lease is lost
			return nil
		}), 1)
	})()
	if err := subjects.Publish(t.Context(), m, jobs(), job{Name: "first"}); err != nil {
		t.Fatal(err)
	}
	<-taken
	if _, err := kv.PutString(t.Context(), "work", `{"agent":"thief","beat":1}`); err != nil {
		t.Fatal(err)
	}
	next := r.join("next")
	ctx, cancel := context.WithCancel(t.Context())
	var served sync.WaitGroup
	defer func() { cancel(); served.Wait() }()
	done := make(chan string, 9)
	served.Go(func() {
		mesh.Serve(ctx, next, jobs(), "", mesh.ActorFunc[job](func(_ context.Context, j job) error { done <- j.Name; return nil }), 1)
	})
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("the task was acknowledged by a holder that had lost its lease")
	}
}

func TestAgents_HeartbeatAndLeave(t *testing.T) {
	r := newRig(t)
	a, b := r.join("a"), r.join("b")
	for _, m := range []struct {
		*mesh.Mesh
		id string
	}{{a, "a"}, {b, "b"}} {
		if err := m.Heartbeat(t.Context(), subjects.Agent{ID: m.id, Host: "h"}); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := a.Agents(t.Context()); err != nil || len(list) != 2 || list[0].ID != "a" {
		t.Fatalf("got %v, %v; want a and b", list, err)
	}
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := a.Agents(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v; want only a", list, err)
	}
}

// A holder whose process renews the lease, and whose actor hangs, loses it. One that never called Alive keeps it.
func TestSingle_HolderThatHangsLosesTheLease(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it waits until the actor counts as hung, 45 s")
	}
	r := newRig(t)
	hung, resume := make(chan struct{}), make(chan struct{})
	var patient atomic.Int32
	defer stand(r.join("a"), "patient", func(ctx context.Context) error { patient.Add(1); <-ctx.Done(); return nil })()
	var once sync.Once
	defer stand(r.join("b"), "work", func(ctx context.Context) error {
		mesh.Alive(ctx)
		once.Do(func() { close(hung) })
		<-resume // whatever becomes of ctx
		return ctx.Err()
	})()
	defer close(resume)
	<-hung
	active := make(chan struct{})
	defer stand(r.join("c"), "work", func(ctx context.Context) error { close(active); <-ctx.Done(); return nil })()
	select {
	case <-active:
	case <-time.After(2 * time.Minute):
		t.Error("nobody took over from the holder that hangs")
	}
	if patient.Load() != 1 {
		t.Errorf("a holder that never called Alive was started %d times, want once", patient.Load())
	}
}

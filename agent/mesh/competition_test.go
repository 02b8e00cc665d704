package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// competitors are agents that compete for leases, with heartbeats as of whole agents.
type competitors struct {
	*rig
	mu      sync.Mutex
	active  map[string][]string // agents that are active, by lease
	overlap []string            // leases that were active twice at a time
	starts  map[string]int      // by lease
}

func newCompetitors(t *testing.T) *competitors {
	return &competitors{rig: newRig(t), active: map[string][]string{}, starts: map[string]int{}}
}

// start lets an agent compete until stop is called, as a process that stops cleanly. Its actors are active until their ctx
// ends, or return the error of fails.
func (c *competitors) start(id string, leases int, fails func(lease string) error) (m *mesh.Mesh, stop func()) {
	m = c.join(id)
	ctx, cancel := context.WithCancel(context.Background())
	var singles, others sync.WaitGroup
	beats, endBeats := context.WithCancel(context.Background())
	others.Go(func() { m.WatchAgents(beats) })
	others.Go(func() {
		for tick := time.NewTicker(time.Second); ; {
			m.Heartbeat(beats, subjects.Agent{ID: id, Name: id})
			select {
			case <-tick.C:
			case <-beats.Done():
				return
			}
		}
	})
	for i := range leases {
		name := fmt.Sprint("lease-", i)
		singles.Go(func() {
			m.Single(ctx, name, func(ctx context.Context) error {
				if err := fails(name); err != nil {
					return err
				}
				c.enter(name, id)
				<-ctx.Done()
				c.leave(name, id)
				return nil
			})
		})
	}
	stop = sync.OnceFunc(func() { cancel(); singles.Wait(); endBeats(); others.Wait() })
	c.t.Cleanup(stop)
	return m, stop
}

func never(string) error { return nil }

func (c *competitors) enter(lease, agent string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starts[lease]++
	c.active[lease] = append(c.active[lease], agent)
	if len(c.active[lease]) > 1 {
		c.overlap = append(c.overlap, lease)
	}
}

func (c *competitors) leave(lease, agent string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var rest []string
	for _, one := range c.active[lease] {
		if one != agent {
			rest = append(rest, one)
		}
	}
	c.active[lease] = rest
}

// loads returns the number of active leases of each agent.
func (c *competitors) loads() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := map[string]int{}
	for _, agents := range c.active {
		for _, agent := range agents {
			n[agent]++
		}
	}
	return n
}

// Leases are spread over the agents within 30 seconds after one comes or goes; none is active twice, and each moves once.
func TestSingle_LeasesAreSpread(t *testing.T) {
	c := newCompetitors(t)
	a, _ := c.start("a", 9, never)
	within(t, 10*time.Second, "a has all leases", func() bool { return c.loads()["a"] == 9 })
	_, stopB := c.start("b", 9, never)
	c.start("c", 9, never)
	within(t, 30*time.Second, "three leases for each agent", func() bool {
		n := c.loads()
		return n["a"] == 3 && n["b"] == 3 && n["c"] == 3
	})
	within(t, 10*time.Second, "the leases state why an agent holds them", func() bool {
		all, err := a.Leases(t.Context())
		if err != nil || len(all) != 9 {
			return false
		}
		for _, l := range all {
			if l.Reason != subjects.LeaseAssigned {
				return false
			}
		}
		return true
	})
	stopB()
	within(t, 5*time.Second, "the leases of b are held by the others without a wait", func() bool {
		n := c.loads()
		return n["a"]+n["c"] == 9
	})
	within(t, 30*time.Second, "they are spread", func() bool { n := c.loads(); return n["a"] >= 4 && n["c"] >= 4 })
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.overlap) > 0 {
		t.Errorf("leases were active twice at a time: %v", c.overlap)
	}
	for lease, n := range c.starts {
		if n > 4 { // a, its agent of three, its agent of two, and a share that changed
			t.Errorf("%s was acquired %d times", lease, n)
		}
	}
}

// A lease that is assigned to an agent whose actor fails is held by another, and stays there.
func TestSingle_FailingActorDoesNotCompete(t *testing.T) {
	c := newCompetitors(t)
	var mu sync.Mutex
	failed, failing := 0, map[string]bool{}
	c.start("b", 4, func(lease string) error {
		mu.Lock()
		defer mu.Unlock()
		failed++
		failing[lease] = true
		return errors.New("the store is unavailable")
	})
	within(t, 10*time.Second, "each actor of b has failed", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(failing) == 4
	})
	c.start("a", 4, never)
	within(t, 30*time.Second, "a has all leases", func() bool { return c.loads()["a"] == 4 })
	mu.Lock()
	before := failed
	mu.Unlock()
	c.stays(20*time.Second, func() bool { return c.loads()["a"] == 4 })
	mu.Lock()
	defer mu.Unlock()
	if failed != before {
		t.Errorf("b acquired a lease %d times more, want none", failed-before)
	}
}

// A lease that is assigned to an agent that does not acquire it is held by another after a while, and stays there: it moves
// once at most, if its holder acquired it before it received the heartbeat of the other.
func TestSingle_AssigneeThatDoesNotAcquire(t *testing.T) {
	c := newCompetitors(t)
	c.join("first") // declares the bucket
	js, err := jetstream.New(c.connect())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), subjects.AgentBucket)
	if err != nil {
		t.Fatal(err)
	}
	c.running(func(ctx context.Context) error {
		for tick := time.NewTicker(time.Second); ; {
			if _, err := kv.PutString(ctx, "hung", `{"id":"hung","leases":["lease-0","lease-1","lease-2","lease-3"]}`); err != nil && ctx.Err() == nil {
				return err
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil
			}
		}
	})
	c.start("a", 4, never)
	within(t, 20*time.Second, "a has all leases", func() bool { return c.loads()["a"] == 4 })
	const attempt = 25 * time.Second // until a lease moves, and is acquired again because the other does not
	c.stays(3*attempt, func() bool { return c.mostStarts() <= 2 })
	within(t, attempt, "a has all leases again", func() bool { return c.loads()["a"] == 4 })
	if n := c.mostStarts(); n > 2 {
		t.Errorf("a lease was acquired %d times, want at most twice", n)
	}
}

// mostStarts returns how often the lease was acquired that was acquired most often.
func (c *competitors) mostStarts() (most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.starts {
		most = max(most, n)
	}
	return most
}

// A cordoned agent gives its leases to others at once; a drained one takes no tasks either, until the cordon is removed. A lease
// that no other agent competes for stays.
func TestCordon(t *testing.T) {
	c := newCompetitors(t)
	a, _ := c.start("a", 4, never)
	b, _ := c.start("b", 5, never) // lease-4 is its own
	within(t, 40*time.Second, "the leases are spread", func() bool { n := c.loads(); return n["a"] >= 2 && n["b"] >= 2 })
	if err := a.Cordon(t.Context(), subjects.Cordon{Agent: "b"}); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "b has only the lease that is its own", func() bool { n := c.loads(); return n["a"] == 4 && n["b"] == 1 })

	done := make(chan string, 9)
	for id, m := range map[string]*mesh.Mesh{"a": a, "b": b} {
		c.serve(m, mesh.ActorFunc[job](func(context.Context, job) error { done <- id; return nil }))
	}
	take := func(n int) map[string]bool {
		by := map[string]bool{}
		for i := range n {
			publish(t, a, job{Name: fmt.Sprint(time.Now().UnixNano(), i)})
			by[<-done] = true
		}
		return by
	}
	within(t, 30*time.Second, "the cordoned agent takes tasks", func() bool { return take(10)["b"] })
	if err := a.Cordon(t.Context(), subjects.Cordon{Agent: "b", Drain: true}); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "the agent states that it is drained", func() bool { return c.state(a, "b") == "drained" })
	take(10) // b may have fetched before
	if by := take(30); by["b"] {
		t.Error("a drained agent took a task")
	}
	if list, err := b.Cordons(t.Context()); err != nil || len(list) != 1 || list[0].Agent != "b" || !list[0].Drain {
		t.Errorf("got %v, %v; want the cordon of b", list, err)
	}
	if err := a.Uncordon(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	within(t, 60*time.Second, "the agent takes tasks again", func() bool { return take(10)["b"] })
	within(t, 40*time.Second, "the leases are spread again", func() bool { n := c.loads(); return n["b"] >= 2 })
}

// state returns the state of an agent.
func (c *competitors) state(m *mesh.Mesh, id string) string {
	all, err := m.Agents(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, one := range all {
		if one.ID == id {
			return one.State()
		}
	}
	return ""
}

// stays fails the test if a condition becomes false within a time.
func (c *competitors) stays(d time.Duration, is func() bool) {
	c.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !is() {
			c.t.Fatalf("leases moved: %v", c.loads())
		}
	}
}

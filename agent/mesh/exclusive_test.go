package mesh_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/embedded"
	"feedmesh/subjects"
)

// exclusiveJobs returns a queue of exclusive tasks.
func exclusiveJobs() subjects.Queue[job] {
	q := jobs()
	q.Exclusive, q.Timeout, q.AckWait = true, time.Minute, 4*time.Second
	return q
}

// A link passes connections to a server. While it is cut, it loses what is sent, as a broken network does.
type link struct {
	server *embedded.Server
	lossy  atomic.Bool

	mu   sync.Mutex
	open []net.Conn
}

// InProcessConn implements [nats.InProcessConnProvider].
func (l *link) InProcessConn() (net.Conn, error) {
	conn, err := l.server.InProcessConn()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, conn)
	return linkedConn{conn, l}, nil
}

// restore ends the losses, and the connections that lost something.
func (l *link) restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lossy.Store(false)
	for _, conn := range l.open {
		conn.Close()
	}
}

// connect connects through the link.
func (l *link) connect(t *testing.T) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect("", nats.InProcessServer(l), nats.ReconnectWait(10*time.Millisecond), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

type linkedConn struct {
	net.Conn
	link *link
}

func (c linkedConn) Write(b []byte) (int, error) {
	if c.link.lossy.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c linkedConn) Read(b []byte) (int, error) {
	for {
		if n, err := c.Conn.Read(b); err != nil || !c.link.lossy.Load() {
			return n, err
		}
	}
}

// An agent whose connection loses everything ends its attempt before another gets the task, and does not end the attempt of the
// other when it is connected again.
func TestExclusive_AttemptsDoNotOverlap(t *testing.T) {
	r := newRig(t)
	network := &link{server: r.server}
	conn := network.connect(t)
	cut, other := meshtest.Join(t, conn, "cut"), r.join("other")
	publishExclusive := func(name string) {
		t.Helper()
		r.check(subjects.Publish(t.Context(), other, exclusiveJobs(), job{Name: name}))
	}
	serve := func(m *mesh.Mesh, actor mesh.ActorFunc[job]) (stop func()) {
		return r.running(func(ctx context.Context) error { return mesh.Serve(ctx, m, exclusiveJobs(), "", actor, 1) })
	}

	publishExclusive("x")
	started, back := make(chan bool, 1), make(chan string, 1)
	var busy atomic.Bool
	serve(cut, func(ctx context.Context, j job) error {
		if j.Name != "x" || network.lossy.Load() {
			back <- j.Name
			return nil
		}
		busy.Store(true)
		started <- true
		<-ctx.Done()
		busy.Store(false)
		return ctx.Err()
	})
	<-started
	network.lossy.Store(true)

	taken, release := make(chan bool, 1), make(chan bool)
	serve(other, func(context.Context, job) error {
		taken <- busy.Load()
		<-release
		return nil
	})
	end := sync.OnceFunc(func() { close(release) })
	t.Cleanup(end)
	select {
	case overlap := <-taken:
		if overlap {
			t.Error("the task was started while the first attempt was in progress")
		}
	case <-time.After(time.Minute):
		t.Fatal("timeout: the task did not get to another agent")
	}

	network.restore()
	eventually(t, "the agent is connected again", func() bool { return conn.IsConnected() && conn.Stats().Reconnects > 0 })
	r.check(conn.Flush()) // with what it sent meanwhile
	publishExclusive("y")
	select {
	case name := <-back:
		if name != "y" {
			t.Errorf("got task %s when the agent was back, want y", name)
		}
	case <-time.After(time.Minute):
		t.Error("timeout: the agent got no task when it was back")
	}
	end()
	eventually(t, "both are done", func() bool { return pendingCount(t, other, "index") == 0 })
	if n := r.deliveries(); n != 3 {
		t.Errorf("got %d deliveries, want two of x and one of y", n)
	}
}

// The AckWait of an exclusive task that takes long is extended.
func TestExclusive_LongTaskIsDeliveredOnce(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	q := exclusiveJobs()
	r.check(subjects.Publish(t.Context(), m, q, job{Name: "long"}))
	var attempts atomic.Int32
	r.running(func(ctx context.Context) error {
		return mesh.Serve(ctx, m, q, "", mesh.ActorFunc[job](func(ctx context.Context, _ job) error {
			attempts.Add(1)
			select {
			case <-time.After(q.AckWait * 3 / 2):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}), 2)
	})
	eventually(t, "done", func() bool { return pendingCount(t, m, "index") == 0 })
	if n := attempts.Load(); n != 1 {
		t.Errorf("got %d attempts, want one", n)
	}
}

package role

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage/enginetest"
)

// serveAPI runs the api role and returns its address, a stop function, and its result. Requests for its
// metrics block until answer is closed.
func (r *testbed) serveAPI(requested chan<- struct{}, answer <-chan struct{}) (address string, stop func(), ended <-chan error) {
	r.t.Helper()
	env := r.env(r.mesh)
	var err error
	if env.Listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		r.t.Fatal(err)
	}
	env.Store, env.Index = manyFeeds(r.t, 3), enginetest.Index(r.t)
	env.Checks = func(context.Context) []wire.Check { return []wire.Check{{Name: "all", OK: true}} }
	env.MetricsPage = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(requested)
		<-answer
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- API.Run(ctx, env) }()
	r.t.Cleanup(cancel)
	return "http://" + env.Listen.Addr().String(), cancel, done
}

func TestAPI_FinishesRequestsOnShutdown(t *testing.T) {
	r := newTestbed(t)
	requested, answer := make(chan struct{}), make(chan struct{})
	address, stop, ended := r.serveAPI(requested, answer)
	for _, path := range []string{"/livez", "/readyz", "/", "/api/status"} {
		resp, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: got status %d, want 200", path, resp.StatusCode)
		}
	}
	status := make(chan int, 1)
	go func() {
		resp, err := http.Get(address + "/metrics")
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	<-requested
	stop()
	eventually(t, "the listener is closed", func() bool {
		conn, err := net.DialTimeout("tcp", address[len("http://"):], time.Second)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	select {
	case err := <-ended:
		t.Fatalf("stopped with %v before the response", err)
	default:
	}
	close(answer)
	if got := <-status; got != http.StatusOK {
		t.Errorf("got status %d for the request in progress, want 200", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("got %v after the stop, want nil", err)
	}
}

func TestAPI_FailsIfItCannotListen(t *testing.T) {
	r := newTestbed(t)
	env := r.env(r.mesh)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	env.Listen, env.Store, env.Index, env.MetricsPage = l, enginetest.Store(t), enginetest.Index(t), http.NotFoundHandler()
	if err := API.Run(t.Context(), env); err == nil {
		t.Error("got nil with a closed listener, want an error")
	}
}

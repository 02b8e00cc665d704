package role

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"feedmesh/agent/api"
	"feedmesh/storage/memory"
)

// serveAPI plays the api role and returns its address, what ends it, and how it
// ended. Requests for its metrics are answered when answer is closed.
func (r *rig) serveAPI(asked chan<- struct{}, answer <-chan struct{}) (address string, stop func(), ended <-chan error) {
	r.t.Helper()
	env := r.env(r.mesh)
	var err error
	if env.Listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		r.t.Fatal(err)
	}
	env.Store, env.Index = manyFeeds(r.t, 3), &memory.Index{}
	env.Checks = func(context.Context) []api.Check { return []api.Check{{Name: "all", OK: true}} }
	env.MetricsPage = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-answer
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- API.Run(ctx, env) }()
	r.t.Cleanup(cancel)
	return "http://" + env.Listen.Addr().String(), cancel, done
}

func TestTheAPIAnswersWhatIsUnderWayWhenItEnds(t *testing.T) {
	r := newRig(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	address, stop, ended := r.serveAPI(asked, answer)
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
	<-asked
	stop()
	eventually(t, "nobody is let in any more", func() bool {
		conn, err := net.DialTimeout("tcp", address[len("http://"):], time.Second)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	select {
	case err := <-ended:
		t.Fatalf("ended with %v before the request was answered", err)
	default:
	}
	close(answer)
	if got := <-status; got != http.StatusOK {
		t.Errorf("got status %d for the request under way, want 200", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("got %v at the end, want nil", err)
	}
}

func TestAnAPIThatCannotListenFails(t *testing.T) {
	r := newRig(t)
	env := r.env(r.mesh)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	env.Listen, env.Store, env.Index, env.MetricsPage = l, &memory.Store{}, &memory.Index{}, http.NotFoundHandler()
	if err := API.Run(t.Context(), env); err == nil {
		t.Error("got nil where its listener is closed, want an error")
	}
}

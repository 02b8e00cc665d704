package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"feedmesh/agent/role/work/worktest"
	"feedmesh/agent/web/rest"
	"feedmesh/agent/wire"
	"feedmesh/storage/enginetest"
)

func serveOn(l net.Listener) func(context.Context, http.Handler) error {
	return func(ctx context.Context, h http.Handler) error {
		return rest.Serve(ctx, l, h, slog.New(slog.DiscardHandler))
	}
}

// serveAPI runs the api role and returns its address, a stop function, and its result. Requests for its
// metrics block until answer is closed.
func serveAPI(r *worktest.Testbed, requested chan<- struct{}, answer <-chan struct{}) (address string, stop func(), ended <-chan error) {
	r.T.Helper()
	env := r.Env(r.Mesh)
	env.Store, env.Index = worktest.ManyFeeds(r.T, 3), enginetest.Index(r.T)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.T.Fatal(err)
	}
	o := Options{Serve: serveOn(l)}
	o.Checks = func(context.Context) []wire.Check { return []wire.Check{{Name: "all", OK: true}} }
	o.MetricsPage = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(requested)
		<-answer
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, env, o) }()
	r.T.Cleanup(cancel)
	return "http://" + l.Addr().String(), cancel, done
}

func TestAPI_FinishesRequestsOnShutdown(t *testing.T) {
	r := worktest.NewTestbed(t)
	requested, answer := make(chan struct{}), make(chan struct{})
	address, stop, ended := serveAPI(r, requested, answer)
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
	worktest.Eventually(t, "the listener is closed", func() bool {
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
	r := worktest.NewTestbed(t)
	env := r.Env(r.Mesh)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	env.Store, env.Index = enginetest.Store(t), enginetest.Index(t)
	if err := Run(t.Context(), env, Options{Serve: serveOn(l), MetricsPage: http.NotFoundHandler()}); err == nil {
		t.Error("got nil with a closed listener, want an error")
	}
}

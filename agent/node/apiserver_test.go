package node

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"feedmesh/config"
)

// While the role stops, requests in progress are finished, and others are answered with the state of the process.
func TestAPIServer_Shutdown(t *testing.T) {
	t.Parallel()
	n := &node{process: process{config: config.Default(), options: Options{Log: slog.New(slog.DiscardHandler)}}}
	n.config.Listen = "127.0.0.1:0"
	s, err := n.openAPI(n.health.server(&n.process, http.NotFoundHandler()))
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + s.listener.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	requested, answer, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(requested)
			<-answer
			w.Write([]byte("finished"))
		}))
	}()
	<-s.serving
	body := make(chan string, 1)
	go func() {
		_, text := get(t, at+"/slow", "")
		body <- text
	}()
	<-requested
	n.health.phase.Store(phaseStopping)
	stop()
	eventually(t, "new requests are answered with the state", func() bool { status, _ := get(t, at+"/api/status", ""); return status == 503 })
	if _, text := request(t, at+"/readyz"); text != `{"checks":[{"name":"agent","ok":false,"detail":"stopping"}],"ready":false}`+"\n" {
		t.Errorf("readiness: got %s, want that the process stops", text)
	}
	if resp, _ := request(t, at+"/livez"); resp.StatusCode != 200 {
		t.Errorf("liveness: got %s, want 200", resp.Status)
	}
	select {
	case err := <-ended:
		t.Fatalf("stopped with %v before the response", err)
	case <-time.After(0):
	}
	close(answer)
	if text := <-body; text != "finished" {
		t.Errorf("got %q for the request in progress, want its answer", text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := n.close(); err != nil {
		t.Error(err)
	}
	if status, _ := get(t, at+"/livez", ""); status != 0 {
		t.Errorf("got %d after the end, want no connection", status)
	}
}

package node

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"feedmesh/agent/web/console"
	"feedmesh/agent/web/rest"
)

// An apiServer serves the address of --listen as long as the process holds it. While the role api does not run, during
// the start and the shutdown, it answers with the state of the process.
type apiServer struct {
	listener net.Listener
	state    http.Handler  // answers while the role does not run
	serving  chan struct{} // closed when the role runs
	failed   chan error    // receives the error of a listener that fails

	mu   sync.RWMutex
	role *roleHandler // nil: the role does not run
}

// A roleHandler is the handler of the role with its requests in progress.
type roleHandler struct {
	http.Handler
	requests sync.WaitGroup
}

// requestDrain is the timeout of requests in progress after the role was stopped.
const requestDrain = 10 * time.Second

// openAPI listens on the address of --listen, and serves it until the node is closed.
func (n *node) openAPI(server *rest.Server) (*apiServer, error) {
	l, err := n.listen(n.config.Listen, "--listen", n.encrypted)
	if err != nil {
		return nil, err
	}
	s := &apiServer{
		listener: l, state: server.Unavailable(n.health.reason, console.Unavailable), serving: make(chan struct{}), failed: make(chan error, 1),
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := rest.Serve(ctx, l, s, n.options.Log)
		s.failed <- err
		ended <- err
	}()
	n.closeLater(closer(func() error { cancel(); return <-ended }))
	return s, nil
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.RLock()
	role := s.role
	if role != nil {
		role.requests.Add(1)
	}
	s.mu.RUnlock()
	if role == nil {
		s.state.ServeHTTP(w, r)
		return
	}
	defer role.requests.Done()
	role.ServeHTTP(w, r)
}

// serve passes requests to the handler of the role until ctx ends. Then it waits for those in progress, for at most
// requestDrain.
func (s *apiServer) serve(ctx context.Context, h http.Handler) error {
	role := &roleHandler{Handler: h}
	s.set(role)
	close(s.serving)
	select {
	case <-ctx.Done():
	case err := <-s.failed:
		return err
	}
	s.set(nil)
	finished := make(chan struct{})
	go func() { role.requests.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(requestDrain):
	}
	return nil
}

func (s *apiServer) set(role *roleHandler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.role = role
}

package console

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/storage"
	"feedmesh/subjects"
)

var noon = time.Date(2026, 9, 29, 12, 0, 0, 0, time.UTC)

// A site is the console over a service of its own, whose clock shows now.
type site struct {
	*servicetest.Testbed
	now     time.Time
	down    bool // its engines or its mesh fail
	timeout bool // requests for its pages have timed out
}

// newSite returns a site at noon, without feeds, queues and agents.
func newSite(t *testing.T, change ...func(*service.Deps)) *site {
	t.Helper()
	s := &site{now: noon}
	s.Testbed = servicetest.New(t, func() time.Time { return s.now }, change...)
	s.Mesh.Queues, s.Mesh.Processes, s.Mesh.Holders = nil, nil, nil
	return s
}

var errUnavailable = errors.New("nats: no responders")

// broken returns a site whose engines and mesh do not answer.
func broken(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.breakAll(t)
	return s
}

// breakAll closes the engines and breaks the mesh.
func (s *site) breakAll(t *testing.T) {
	t.Helper()
	s.down, s.Mesh.Broken = true, errUnavailable
	if err := errors.Join(s.Store.Close(), s.Index.Close()); err != nil {
		t.Fatal(err)
	}
}

// A hungMesh answers no request for the depths of queues, so that there is no status.
type hungMesh struct{ service.Mesh }

func (hungMesh) Depths(ctx context.Context) ([]subjects.Depth, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// hung returns a site without a status.
func hung(t *testing.T) *site {
	t.Helper()
	s := newSite(t, func(d *service.Deps) { d.Mesh = hungMesh{d.Mesh} })
	s.down = true
	return s
}

// answer returns the response to a request, from a handler without a cached status.
func (s *site) answer(r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	asLocal(Handler(s.Service)).ServeHTTP(w, r)
	return w.Result()
}

// asLocal returns a handler of requests of this machine, as package rest passes them on.
func asLocal(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.With(r.Context(), access.Local())))
	})
}

func serve(s *site, method, target string) *http.Response {
	return s.answer(httptest.NewRequest(method, target, nil))
}

// submit submits a form.
func submit(s *site, target, form string) *http.Response {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.answer(r)
}

// A submission is a form and its expected response.
type submission struct {
	target, form string
	status       int
	location     string
}

// submitAll submits forms in order.
func submitAll(t *testing.T, s *site, all []submission) {
	t.Helper()
	for _, c := range all {
		if got := submit(s, c.target, c.form); got.StatusCode != c.status || got.Header.Get("Location") != c.location {
			t.Errorf("%s %.100s: status %d to %q, want %d to %q", c.target, c.form, got.StatusCode, got.Header.Get("Location"), c.status, c.location)
		}
	}
}

// must fails the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// item stores an item of a feed, which is added if it is missing, and makes it searchable. Its key is its ID; it is
// new, and published now.
func (s *site) item(t *testing.T, feedID string, i storage.Item) storage.Item {
	t.Helper()
	return s.items(t, feedID, i)[0]
}

func (s *site) items(t *testing.T, feedID string, items ...storage.Item) []storage.Item {
	t.Helper()
	if _, err := s.Store.Feed(t.Context(), feedID); errors.Is(err, storage.ErrNotFound) {
		s.AddFeeds(t, storage.Feed{ID: feedID, URL: "https://" + feedID + ".example/", Added: noon})
	}
	for n := range items {
		if items[n].Key = items[n].ID; items[n].Published.IsZero() {
			items[n].Published = s.now
		}
	}
	stored := s.PutItems(t, feedID, items...)
	s.IndexItems(t, stored...)
	return stored
}

// stored returns an item of the store.
func (s *site) stored(t *testing.T, id string) storage.Item {
	t.Helper()
	i, err := storage.ItemByID(t.Context(), s.Store, id)
	must(t, err)
	return i
}

const evil = `<script>alert("1")</script>'"><img src=x onerror=alert(1)>`

// hostile returns a site in which every text is hostile.
func hostile(t *testing.T) *site {
	t.Helper()
	s := newSite(t, hostileRuleSets(t))
	s.hostileFeeds(t)
	s.hostileItems(t)
	s.hostileStories(t)
	s.hostileSpam(t)
	s.hostileMesh(t)
	s.hostileRules(t)
	s.hostileImports(t)
	return s
}

package api

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/agent/websub"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// deliverer returns a receiver of pushes at worktest.Noon.
func deliverer() (*pushes, *worktest.Outbox) {
	out := &worktest.Outbox{}
	full := func(context.Context, ...string) (map[string]*subjects.State, error) {
		return map[string]*subjects.State{storage.FeedID(worktest.Blog): {FullText: true}}, nil
	}
	return &pushes{out: out, states: full, clock: func() time.Time { return worktest.Noon }, log: slog.New(slog.DiscardHandler)}, out
}

func TestPush_IsParsedLikeAFetch(t *testing.T) {
	p, out := deliverer()
	body := worktest.RSS("a", worktest.Plainly)
	d := websub.Delivery{FeedID: storage.FeedID(worktest.Blog), Topic: worktest.Blog, ContentType: "text/xml", Body: []byte(body)}
	if err := p.deliver(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	task := worktest.Only(t, out, subjects.ParseQueue)
	unpacked, err := fetch.Decompress(task.Body, 1<<20)
	if err != nil || string(unpacked) != body || task.URL != worktest.Blog || !task.FullText || task.ContentType != "text/xml" {
		t.Errorf("got %+v with %q, %v; want the complete push", task, unpacked, err)
	}
	if !task.Pushed() || task.FeedID != d.FeedID || !task.Fetched.Equal(worktest.Noon) || task.ETag+task.LastModified != "" {
		t.Errorf("got receipt %+v, want the receipt of a push", task.Receipt)
	}
	if err := p.deliver(t.Context(), d); err != nil || worktest.Only(t, out, subjects.ParseQueue).ID() != task.ID() {
		t.Errorf("got two tasks for a repeated push: %v", err)
	}
}

func TestPush_RetryOnlyIfUseful(t *testing.T) {
	p, out := deliverer()
	noise := make([]byte, subjects.MaxMessage)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(noise)
	if err := p.deliver(t.Context(), websub.Delivery{Body: noise}); err != nil || len(out.Messages) > 0 {
		t.Errorf("too large: got %v and %d messages, want neither", err, len(out.Messages))
	}
	out.Err = errors.New("the queue is full")
	if err := p.deliver(t.Context(), websub.Delivery{Body: []byte("a feed")}); !errors.Is(err, out.Err) {
		t.Errorf("got %v, want %v", err, out.Err)
	}
}

func TestWithHubs_NoTokenForCallbacksOnly(t *testing.T) {
	r := worktest.NewTestbed(t)
	env := r.Env(r.Mesh)
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "show the token", http.StatusUnauthorized)
	})
	for _, c := range []struct {
		setting, path string
		want          int
	}{
		{"", "/websub/" + strings.Repeat("A", 26), http.StatusUnauthorized},
		{"https://feeds.example", "/websub/" + strings.Repeat("A", 26), http.StatusNotFound},
		{"https://feeds.example", "/websub", http.StatusMovedPermanently}, // to the next path
		{"https://feeds.example", "/websub/", http.StatusNotFound},
		{"https://feeds.example", "/websub/../api/feeds", http.StatusMovedPermanently},
		{"https://feeds.example", "/api/feeds", http.StatusUnauthorized},
		{"https://feeds.example", "/", http.StatusUnauthorized},
	} {
		env.Config.PublicURL = config.Address(c.setting)
		w := httptest.NewRecorder()
		withHubs(env, guarded).ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
		if w.Code != c.want && !(c.want == http.StatusMovedPermanently && w.Code == http.StatusTemporaryRedirect) {
			t.Errorf("%s with %q: got %d, want %d", c.path, c.setting, w.Code, c.want)
		}
	}
}

package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/mesh"
	"feedmesh/agent/mesh/meshtest"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
)

// answersOf returns the idempotency store of a mesh with a separate server.
func answersOf(t *testing.T) mesh.Responses {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: it needs a real server")
	}
	return meshtest.New(t).Responses()
}

func TestIdempotency_RepeatedRequestRunsOnce(t *testing.T) {
	t.Parallel()
	answers := answersOf(t)
	w := newTestbed(t, func(d *setup) { d.Idempotency = answers })
	for _, c := range []struct {
		name, path, body, other string
		want                    int
	}{
		{"is done", "/api/reindex", "", "x", http.StatusAccepted},
		{"is done with a body", "/api/feeds", `{"urls":["https://once.example/"]}`, `{"urls":["https://once.example/x"]}`, http.StatusOK},
		{"is wrong", "/api/feeds", `{"urls":[]}`, `{"urls":["https://once.example/"]}`, http.StatusUnprocessableEntity},
		{"asks for what is not there", "/api/feeds/none/refresh", "", "x", http.StatusNotFound},
	} {
		first := w.request(t, "POST", c.path, c.body, "Idempotency-Key", `"`+c.name+`"`)
		if first.StatusCode != c.want || first.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("what %s: got %d %s, want %d", c.name, first.StatusCode, first.body, c.want)
		}
		for _, key := range []string{`"` + c.name + `"`, c.name} {
			again := w.request(t, "POST", c.path, c.body, "Idempotency-Key", key)
			if again.StatusCode != c.want || again.body != first.body || again.Header.Get("Content-Type") != first.Header.Get("Content-Type") || again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("what %s, again: got %d %v %s, want the same answer, said to be that: %s", c.name, again.StatusCode, again.Header, again.body, first.body)
			}
		}
		w.request(t, "POST", c.path, c.other, "Idempotency-Key", c.name).isProblem(t, http.StatusUnprocessableEntity, "another request")
		w.request(t, "POST", c.path+"?x=y", c.body, "Idempotency-Key", c.name).isProblem(t, http.StatusUnprocessableEntity, "another request")
		if other := w.request(t, "POST", c.path, c.body, "Idempotency-Key", "another for what "+c.name); other.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("what %s, with another key: it was not done anew", c.name)
		}
	}
	if got := answerAs[wire.ImportResults](t, w.request(t, "POST", "/api/feeds", `{"urls":["https://once.example/"]}`, "Idempotency-Key", "is done with a body")); got.Results[0].Outcome != wire.ImportAdded {
		t.Errorf("got %+v, want the result of the first request", got)
	}
	for _, key := range []string{`""`, strings.Repeat("x", maxIdempotencyKey+1)} {
		w.request(t, "POST", "/api/reindex", "", "Idempotency-Key", key).isProblem(t, http.StatusBadRequest, "Idempotency-Key must have")
	}
	if a := w.request(t, "GET", "/api/feeds", "", "Idempotency-Key", "is done"); a.StatusCode != 200 {
		t.Errorf("a GET: got %d, want the key to mean nothing", a.StatusCode)
	}
}

func TestIdempotency_KeysArePerClient(t *testing.T) {
	t.Parallel()
	answers := answersOf(t)
	w := newTestbed(t, withOwner, func(d *setup) { d.Idempotency = answers })
	for _, auth := range []string{"Bearer s3cret", "Bearer " + w.secret(t, access.Admin), "Bearer " + w.secret(t, access.Admin)} {
		if a := w.request(t, "POST", "/api/reindex", "", "Authorization", auth, "Idempotency-Key", "1"); a.StatusCode != http.StatusAccepted || a.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("got %d %v, want it run: the key belongs to another client", a.StatusCode, a.Header)
		}
	}
	for _, auth := range []string{"", "Bearer " + w.secret(t, access.Read), "Bearer fm_wrong"} {
		if a := w.request(t, "POST", "/api/reindex", "", "Authorization", auth, "Idempotency-Key", "1"); a.StatusCode/100 != 4 || a.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%q: got %d %s, want nothing of what others were answered", auth, a.StatusCode, a.body)
		}
	}
}

// A client that lost the response can create another token; the mesh must not store secrets.
func TestIdempotency_SecretsAreNotStored(t *testing.T) {
	t.Parallel()
	answers := answersOf(t)
	w := newTestbed(t, func(d *setup) { d.Idempotency = answers })
	ask := func() answer {
		return w.request(t, "POST", "/api/tokens", `{"name":"phone","scopes":["read"]}`, "Idempotency-Key", "1")
	}
	made := answerAs[wire.NewToken](t, ask())
	if again := ask(); again.StatusCode != http.StatusCreated || again.body != "" || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d %s, want the status without the secret", again.StatusCode, again.body)
	}
	kept, _, err := answers.Claim(t.Context(), idempotencyKey(access.Local(), "1"), nil)
	if err != nil || kept == nil || bytes.Contains(kept, []byte(made.Secret)) {
		t.Errorf("got %s, %v; want no secret", kept, err)
	}
}

// Handlers that report their calls to the test.
func once(t *testing.T, answers IdempotencyStore, next http.HandlerFunc) *httptest.Server {
	t.Helper()
	web := httptest.NewServer(idempotent(answers, next))
	t.Cleanup(web.Close)
	return web
}

func post(t *testing.T, url, key, content string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", key)
	return exchange(t, r)
}

func TestIdempotency_ConcurrentRequestsRunOnce(t *testing.T) {
	t.Parallel()
	var done atomic.Int32
	begun, end := make(chan bool, 100), make(chan bool)
	web := once(t, answersOf(t), func(w http.ResponseWriter, r *http.Request) {
		done.Add(1)
		begun <- true
		<-end
		io.WriteString(w, "done")
	})
	var first, asking sync.WaitGroup
	first.Go(func() { post(t, web.URL+"/api/x", "1", "") })
	<-begun
	for range 20 {
		asking.Go(func() {
			a := post(t, web.URL+"/api/x", "1", "")
			if a.isProblem(t, http.StatusConflict, "in progress"); a.Header.Get("Retry-After") == "" {
				t.Errorf("got %v, want Retry-After", a.Header)
			}
		})
	}
	asking.Wait()
	close(end)
	first.Wait()
	if a := post(t, web.URL+"/api/x", "1", ""); a.body != "done" || done.Load() != 1 {
		t.Errorf("got %s, and it was done %d times; want once", a.body, done.Load())
	}
}

func TestIdempotency_TemporaryFailureIsRetried(t *testing.T) {
	t.Parallel()
	answers := answersOf(t)
	for _, status := range []int{500, 503, 429, 408, problem.StatusGone} {
		n := 0
		web := once(t, answers, func(w http.ResponseWriter, r *http.Request) {
			if n++; n == 1 {
				w.WriteHeader(status)
				return
			}
			io.WriteString(w, "done")
		})
		key := fmt.Sprint(status)
		if a := post(t, web.URL+"/api/x", key, ""); a.StatusCode != status {
			t.Errorf("got %d, want %d", a.StatusCode, status)
		}
		for range 2 {
			if a := post(t, web.URL+"/api/x", key, ""); a.body != "done" || n != 2 {
				t.Errorf("after %d: got %d %s at try %d, want success at the second", status, a.StatusCode, a.body, n)
			}
		}
	}
}

func TestIdempotency_AbortedRequestIsRetried(t *testing.T) {
	t.Parallel()
	answers := answersOf(t)
	web := once(t, answers, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "done") })
	key := idempotencyKey(access.Client{}, "1")
	claim := func(until time.Time) {
		t.Helper()
		value, _ := json.Marshal(storedResponse{Until: until})
		if _, _, err := answers.Claim(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	claim(time.Now().Add(-time.Second)) // of a process that exited
	if a := post(t, web.URL+"/api/x", "1", ""); a.body != "done" || a.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("got %d %s, want it finished", a.StatusCode, a.body)
	}
	if a := post(t, web.URL+"/api/x", "1", ""); a.body != "done" || a.Header.Get("Idempotent-Replayed") == "" {
		t.Errorf("again: got %d %s, want the answer", a.StatusCode, a.body)
	}

	panics := once(t, answers, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	r, _ := http.NewRequestWithContext(t.Context(), "POST", panics.URL+"/api/x", nil)
	r.Header.Set("Idempotency-Key", "2")
	if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
		resp.Body.Close()
		t.Errorf("got %d, want nothing", resp.StatusCode)
	}
	if a := post(t, web.URL+"/api/x", "2", ""); a.body != "done" {
		t.Errorf("after a panic: got %d %s, want it finished", a.StatusCode, a.body)
	}
}

func TestIdempotency_LongResponseStoresStatusOnly(t *testing.T) {
	t.Parallel()
	answers := answersOf(t)
	for size, kept := range map[int]bool{maxStoredBody: true, maxStoredBody + 1: false} {
		web := once(t, answers, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, strings.Repeat("x", size))
		})
		key := fmt.Sprint(size)
		if a := post(t, web.URL+"/api/x", key, ""); len(a.body) != size {
			t.Errorf("got %d bytes, want %d", len(a.body), size)
		}
		if a := post(t, web.URL+"/api/x", key, ""); a.StatusCode != http.StatusAccepted || (len(a.body) == size) != kept {
			t.Errorf("%d bytes, again: got %d and %d bytes, want 202, and them: %v", size, a.StatusCode, len(a.body), kept)
		}
	}
}

// The unread part of a body belongs to the request too.
func TestIdempotency_ComparesUnreadBodies(t *testing.T) {
	t.Parallel()
	n := 0
	web := once(t, answersOf(t), func(w http.ResponseWriter, r *http.Request) { n++ })
	long := strings.Repeat("x", maxStoredBody)
	for range 2 {
		if a := post(t, web.URL+"/api/x", "1", long); a.StatusCode != 200 || n != 1 {
			t.Errorf("got %d, done %d times; want once", a.StatusCode, n)
		}
	}
	post(t, web.URL+"/api/x", "1", long[1:]).isProblem(t, http.StatusUnprocessableEntity, "another request")
}

func TestIdempotency_UnavailableWithoutStore(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.request(t, "POST", "/api/reindex", "", "Idempotency-Key", "1").isProblem(t, http.StatusServiceUnavailable, "without an Idempotency-Key")
	broken := newTestbed(t, func(d *setup) { d.Idempotency = brokenAnswers{} })
	broken.request(t, "POST", "/api/reindex", "", "Idempotency-Key", "1").isProblem(t, http.StatusServiceUnavailable, "the mesh is unavailable")
	if a := broken.request(t, "POST", "/api/reindex", ""); a.StatusCode != http.StatusAccepted {
		t.Errorf("without a key: got %d, want 202", a.StatusCode)
	}
}

// brokenAnswers is an IdempotencyStore that fails.
type brokenAnswers struct{ IdempotencyStore }

func (brokenAnswers) Claim(context.Context, string, []byte) ([]byte, uint64, error) {
	return nil, 0, fmt.Errorf("the mesh is unavailable")
}

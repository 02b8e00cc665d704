package foryou_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/web/foryou"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

var noon = time.Date(2026, 9, 29, 12, 0, 0, 0, time.UTC)

// A fixture is the page of a service with three unread items.
type fixture struct {
	*servicetest.Testbed
	handler http.Handler
	ann     context.Context
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{Testbed: servicetest.New(t, func() time.Time { return noon })}
	f.AddFeeds(t, storage.Feed{ID: "f", URL: "https://f.example/", Title: "Feed <f>", Added: noon})
	for _, id := range []string{"a", "b", "c"} {
		f.PutItems(t, "f", storage.Item{ID: id, Key: id, Title: "Title <" + id + ">", Categories: []string{"devops"}, Topics: []string{"topic-" + id}, Published: noon, FirstSeen: noon})
	}
	f.handler = foryou.Handler(f.Service)
	f.ann = access.With(t.Context(), access.Client{ID: "ann", Scopes: access.Scopes})
	return f
}

func (f *fixture) send(t *testing.T, method, path string, form url.Values, status int) string {
	t.Helper()
	r := httptest.NewRequestWithContext(f.ann, method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	if w.Code != status {
		t.Fatalf("%s %s: got %d, want %d: %s", method, path, w.Code, status, w.Body)
	}
	return w.Body.String()
}

func contains(t *testing.T, page string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(page, w) {
			t.Errorf("the page lacks %q", w)
		}
	}
}

func TestPage_FromStartToForget(t *testing.T) {
	f := newFixture(t)
	page := f.send(t, "GET", "/for-you", nil, http.StatusOK)
	contains(t, page, "nothing is recorded", ">Start<", `aria-current="page">For you`)
	if strings.Contains(page, "Title") {
		t.Error("items are suggested before the start")
	}
	f.send(t, "POST", "/for-you/switch", url.Values{"on": {"yes"}}, http.StatusSeeOther)
	f.send(t, "POST", "/for-you/signal", url.Values{"id": {"a"}, "signal": {"more"}}, http.StatusSeeOther)
	f.send(t, "POST", "/for-you/signal", url.Values{"id": {"b"}, "signal": {"hidden"}}, http.StatusSeeOther)
	f.Interests.Opened(f.ann, "c")
	page = f.send(t, "GET", "/for-you", nil, http.StatusOK)
	contains(t, page, "Title &lt;a&gt;", "Because you open", "More of this", "Less of this", "Switch off", "Forget", "Items opened on each day", "Categories of opened items")
	if strings.Contains(page, "Title &lt;b&gt;") {
		t.Error("the hidden item is listed")
	}
	var exported wire.Interests
	if err := json.Unmarshal([]byte(f.send(t, "GET", "/for-you/interests.json", nil, http.StatusOK)), &exported); err != nil || len(exported.Signals) != 3 || !exported.On {
		t.Errorf("got %+v, %v", exported, err)
	}
	f.send(t, "POST", "/for-you/forget", nil, http.StatusSeeOther)
	contains(t, f.send(t, "GET", "/for-you", nil, http.StatusOK), "Nothing yet")
	f.send(t, "POST", "/for-you/switch", url.Values{"on": {"no"}}, http.StatusSeeOther)
	contains(t, f.send(t, "GET", "/for-you", nil, http.StatusOK), ">Start<")
}

func TestPage_RecordOfANewerVersionCanBeForgotten(t *testing.T) {
	f := newFixture(t)
	err := storage.Interests(f.Store).Change(t.Context(), "ann", func(*storage.Interest) (*storage.Interest, error) {
		return &storage.Interest{Client: "ann", On: true, Learned: []byte{255}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, f.send(t, "GET", "/for-you", nil, http.StatusConflict), "newer version", "Forget")
	f.send(t, "POST", "/for-you/forget", nil, http.StatusSeeOther)
	contains(t, f.send(t, "GET", "/for-you", nil, http.StatusOK), "Title &lt;a&gt;")
}

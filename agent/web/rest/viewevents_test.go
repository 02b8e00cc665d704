package rest

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// An itemEvent is an event of the stream of a view.
type itemEvent struct{ id, item string }

// watchView opens the stream of a view and returns the items that enter.
func (w *testbed) watchView(t *testing.T, name, after string) <-chan itemEvent {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", w.URL+"/api/views/"+name+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got %+v, %v", resp, err)
	}
	events := make(chan itemEvent, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var e itemEvent
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
			case "id":
				e.id = value
			case "data":
				var item wire.FoundItem
				if err := json.Unmarshal([]byte(value), &item); err != nil {
					t.Error(err)
				}
				e.item = item.ID
				events <- e
			}
		}
	}()
	t.Cleanup(func() { cancel(); resp.Body.Close(); <-done })
	return events
}

func TestViewEvents_StreamWhatEntersAndContinue(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.runStreams(t)
	if a := putView(t, w, "view all = from all"); a.StatusCode != 200 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	first, second := w.itemOf("1"), w.itemOf("2")
	stream := w.watchView(t, "all", "")
	admit(t, w, "all", first)
	w.Mesh.Events <- subjects.Event{Kind: subjects.ViewsGrew, At: now}
	got := <-stream
	if got.item != first || got.id == "" {
		t.Errorf("got %+v, want item %s", got, first)
	}
	admit(t, w, "all", second)
	w.Mesh.Events <- subjects.Event{Kind: subjects.ViewsGrew, At: now}
	if again := <-stream; again.item != second || again.id <= got.id {
		t.Errorf("got %+v after %+v", again, got)
	}
	if continued := <-w.watchView(t, "all", got.id); continued.item != second { // without an event
		t.Errorf("a stream that continues after %s got %+v", got.id, continued)
	}
}

// The stream of a view that the client may not read does not exist, and other streams have nothing of views.
func TestViewEvents_OfReadersAlone(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.runStreams(t)
	ann, bob := w.secret(t, access.Read, access.Write), w.secret(t, access.Search)
	if a := putView(t, w, "view own = from all", "Authorization", "Bearer "+ann); a.StatusCode != 200 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	w.request(t, "GET", "/api/views/own/events", "", "Authorization", "Bearer "+bob).isProblem(t, 404, "own")
	w.request(t, "GET", "/api/views/own/events", "", "Authorization", "Bearer "+ann, "Last-Event-ID", "x").isProblem(t, 422, "")
	all := w.listen(t)
	all.next(t, "subscribed", &struct{}{})
	w.Mesh.Events <- subjects.Event{Kind: subjects.ViewsGrew, At: now, Text: "random"}
	w.Mesh.Events <- subjects.Event{Kind: subjects.ViewItem + "receiver", At: now, Title: "private"}
	w.Mesh.Events <- subjects.Event{Kind: subjects.StoryNew, At: now, Title: "public"}
	var got wire.MeshEvent
	if all.next(t, "happened", &got); got.Text != "public" {
		t.Errorf("got %+v", got)
	}
}

// A stream has all members, though they are more than a batch, and leaves out items that were removed.
func TestViewEvents_ManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.runStreams(t)
	if a := putView(t, w, "view all = from all"); a.StatusCode != 200 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	v, err := storage.Views(w.Store).Get(t.Context(), "all")
	if err != nil {
		t.Fatal(err)
	}
	stream := w.watchView(t, "all", "")
	var members []storage.Member
	for i := range 250 {
		id := "removed"
		if i == 249 {
			id = w.itemOf("1")
		}
		members = append(members, storage.Member{View: v.Number, ItemID: id + strings.Repeat("x", i*min(1, 249-i)), Entered: time.Now(), Published: time.Now()})
	}
	if err := w.Store.ChangeMembers(t.Context(), storage.Fence{}, members, nil); err != nil {
		t.Fatal(err)
	}
	w.Mesh.Events <- subjects.Event{Kind: subjects.ViewsGrew, At: now}
	if got := <-stream; got.item != w.itemOf("1") {
		t.Errorf("got %+v", got)
	}
}

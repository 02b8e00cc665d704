package rest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
)

// postHub sends a form to the hub of a feed.
func postHub(t *testing.T, w *testbed, path string, form url.Values) answer {
	t.Helper()
	return w.request(t, "POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// pushes returns the subscriptions of WebSub subscribers when their number is n.
func pushes(t *testing.T, w *testbed, n int) (found []storage.Subscription) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var err error
		if found, err = storage.Subscriptions(w.Store).List(t.Context()); err != nil {
			t.Fatal(err)
		} else if len(found) == n {
			return found
		}
	}
	t.Fatalf("got %+v, want %d subscriptions", found, n)
	return nil
}

func TestHub_SubscribesExtendsAndUnsubscribes(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	if a := putView(t, w, `view go "Go" = from all where kernel`); a.StatusCode != 200 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	confirms := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Query().Get("hub.challenge")) }
	callback := httptest.NewServer(http.HandlerFunc(confirms))
	t.Cleanup(callback.Close)

	feed := w.request(t, "GET", "/outputs/views/go.atom?limit=5", "")
	topic := w.URL + "/outputs/views/go.atom?limit=5"
	if got, want := feed.Header.Get("Link"), fmt.Sprintf(`<%s/outputs/hub>; rel="hub", <%s>; rel="self"`, w.URL, topic); got != want || !strings.Contains(feed.body, `rel="hub"`) {
		t.Errorf("the link is %s, want %s; in %s", got, want, feed.body)
	}
	if a := w.request(t, "GET", "/outputs/search.atom", ""); strings.Contains(a.body, `rel="hub"`) || a.Header.Get("Link") != "" {
		t.Error("a search has a hub, which pushes only views")
	}
	form := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {topic}, "hub.callback": {callback.URL + "/?reader=1"}, "hub.secret": {"the secret"}}
	if a := postHub(t, w, "/outputs/hub", form); a.StatusCode != 202 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	first := pushes(t, w, 1)[0]
	address, secret, err := w.Secrets.OpenReceiver(first)
	if err != nil || first.Channel != "websub" || first.Title != "Go" || first.Topic != topic || address != callback.URL+"/?reader=1" || secret != "the secret" ||
		!first.Expires.Equal(w.Now().Add(10*24*time.Hour)) {
		t.Errorf("got %+v, %s, %v", first, address, err)
	}
	form.Set("hub.lease_seconds", "999999999")
	if a := postHub(t, w, "/outputs/hub", form); a.StatusCode != 202 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	for extended := w.Now().Add(30 * 24 * time.Hour); !pushes(t, w, 1)[0].Expires.Equal(extended); time.Sleep(10 * time.Millisecond) {
		if t.Context().Err() != nil {
			t.Fatal("the lease is not extended to 30 days")
		}
	}
	// A view that is removed has no subscribers any more.
	if a := w.request(t, "DELETE", "/api/views/go", ""); a.StatusCode != 204 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	pushes(t, w, 0)
	if a := putView(t, w, `view go "Go" = from all where kernel`); a.StatusCode != 200 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	if a := postHub(t, w, "/outputs/hub", form); a.StatusCode != 202 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	pushes(t, w, 1)
	form.Set("hub.mode", "unsubscribe")
	if a := postHub(t, w, "/outputs/hub", form); a.StatusCode != 202 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	pushes(t, w, 0)
}

// Only who may read the feed of a view may subscribe to it, also with the token in the address.
func TestHub_Refuses(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner)
	owner := []string{"Authorization", "Bearer s3cret"}
	for _, definition := range []string{"view own = from all where kernel", "view open for everyone = from all where kernel"} {
		if a := putView(t, w, definition, owner...); a.StatusCode != 200 {
			t.Fatalf("got %d %s", a.StatusCode, a.body)
		}
	}
	asked := make(chan string, 10)
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NotFound(w, r)
		asked <- r.URL.Query().Get("hub.mode")
	}))
	t.Cleanup(refuses.Close)
	token := w.secret(t, access.Search)
	hub := "/outputs/hub?token=" + token
	if a := w.request(t, "GET", "/outputs/views/open.rss?token="+token, ""); a.StatusCode != 200 ||
		a.Header.Get("Link") != fmt.Sprintf(`<%s%s>; rel="hub", <%[1]s/outputs/views/open.rss>; rel="self"`, w.URL, hub) {
		t.Errorf("got %d, the link is %s", a.StatusCode, a.Header.Get("Link"))
	}
	form := func(changes ...string) url.Values {
		f := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {w.URL + "/outputs/views/open.rss"}, "hub.callback": {refuses.URL}}
		for i := 0; i < len(changes); i += 2 {
			f.Set(changes[i], changes[i+1])
		}
		return f
	}
	for _, c := range []struct {
		path   string
		form   url.Values
		status int
		text   string
	}{
		{"/outputs/hub", form(), 401, ""},
		{hub, form("hub.mode", "publish"), 400, "publish"},
		{hub, form("hub.callback", "ftp://reader.example/"), 400, "hub.callback"},
		{hub, form("hub.secret", strings.Repeat("x", 200)), 400, "199"},
		{hub, form("hub.lease_seconds", "soon"), 400, "hub.lease_seconds"},
		{hub, form("hub.topic", w.URL+"/outputs/views/own.rss"), 404, "no view"},
		{hub, form("hub.topic", w.URL+"/outputs/views/none.rss"), 404, "no view"},
		{hub, form("hub.topic", w.URL+"/outputs/views/open.html"), 404, "no feed of this hub"},
		{hub, form("hub.topic", w.URL+"/outputs/search.rss"), 404, "no feed of this hub"},
		{hub, form("hub.topic", "https://elsewhere.example/outputs/views/open.rss"), 404, "no feed of this hub"},
		{hub, url.Values{"hub.secret": {strings.Repeat("x", 20_000)}}, 400, "16 KB"},
	} {
		if a := postHub(t, w, c.path, c.form); a.StatusCode != c.status || !strings.Contains(a.body, c.text) {
			t.Errorf("%s %v: got %d %s, want %d with %q", c.path, c.form, a.StatusCode, a.body, c.status, c.text)
		}
	}
	if a := postHub(t, w, hub, form()); a.StatusCode != 202 {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
	if mode := <-asked; mode != "subscribe" {
		t.Errorf("the subscriber was asked for %q", mode)
	}
	pushes(t, w, 0) // the subscriber does not confirm
}

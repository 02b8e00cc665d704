package rest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// set changes a feed's settings and returns the response.
func (w *testbed) set(t *testing.T, change string) wire.Feed {
	t.Helper()
	a := w.request(t, "PATCH", "/api/feeds/"+w.feed, change)
	var f wire.Feed
	if err := json.Unmarshal([]byte(a.body), &f); a.StatusCode != 200 || err != nil {
		t.Fatalf("%s: got %d %s, want the feed", change, a.StatusCode, a.body)
	}
	return f
}

// stored returns the stored feed.
func (w *testbed) stored(t *testing.T) storage.Feed {
	t.Helper()
	f, err := w.Store.Feed(t.Context(), w.feed)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSetFeed_ChangesSingleFields(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	before := w.stored(t)
	if got := w.set(t, `{}`); !reflect.DeepEqual(got.Tags, before.Tags) || got.Pinned || got.Request != nil {
		t.Errorf("changing nothing: got %+v", got)
	}
	w.set(t, `{"pinned":true}`)
	w.set(t, `{"full_text":true}`)
	w.set(t, `{"tags":[" a  b ","c","c"]}`)
	w.set(t, `{"headers":{"X-One":"1","X-Two":"2"}}`)
	w.set(t, `{"headers":{"x-one":"one","X-Two":"","X-Three":"3"}}`)
	got := w.set(t, `{"user":"me","password":"pw","user_agent":"A reader","proxy":"direct"}`)
	want := &wire.RequestView{UserAgent: "A reader", Headers: []string{"X-Three", "x-one"}, User: "me", Password: "set", Proxy: "direct"}
	if !got.Pinned || !got.FullText || !reflect.DeepEqual(got.Tags, []string{"a b", "c"}) || !reflect.DeepEqual(got.Request, want) {
		t.Errorf("got %+v %+v, want all of it", got, got.Request)
	}
	kept := &storage.Request{UserAgent: "A reader", Header: map[string]string{"X-Three": "3", "x-one": "one"}, User: "me", Password: "pw", Proxy: "direct"}
	if r := w.stored(t).Request; !reflect.DeepEqual(r, kept) {
		t.Errorf("the store has %+v, want %+v", r, kept)
	}
	if got := w.set(t, `{"user":"you"}`); got.Request.Password != "" {
		t.Error("another user has the password of the one before")
	}
	if got := w.set(t, `{"user":"","user_agent":"","proxy":"","headers":{"X-Three":"","X-ONE":""},"tags":[],"pinned":false,"full_text":false}`); got.Request != nil || got.Pinned || got.FullText || len(got.Tags) != 0 {
		t.Errorf("taking all back: got %+v", got)
	}
	if w.stored(t).Request != nil {
		t.Error("the store still has a request")
	}
}

func TestSetFeed_NotifiesSchedule(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.set(t, `{"pinned":true}`)
	got := servicetest.Published(t, w.Mesh, subjects.ObserveQueue)
	if len(got) != 1 || len(got[0].Observations) != 1 || got[0].Observations[0].Outcome != subjects.Changed || got[0].Observations[0].FeedID != w.feed {
		t.Errorf("got %+v, want the change of the feed", got)
	}
}

func TestSetFeed_RejectsInvalid(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	before := w.stored(t)
	for change, want := range map[string]string{
		`{"tags":[" "]}`: "is no tag",
		`{"tags":["` + strings.Repeat("x", 129) + `"]}`: "is no tag",
		`{"user_agent":"a\nb"}`:                         "it has characters that no header may have",
		`{"headers":{"Host":"x"}}`:                      "Host",
		`{"headers":{"X":"a\nb"}}`:                      "X",
		`{"user":"a:b"}`:                                "a user's name can't have a colon in it",
		`{"password":"x"}`:                              "a password needs a user",
		`{"proxy":"none"}`:                              `there is no proxy "none"`,
		`{"pinned":true,"proxy":"none"}`:                "nothing was changed",
	} {
		if a := w.request(t, "PATCH", "/api/feeds/"+w.feed, change); a.StatusCode != 422 || !strings.Contains(strings.ReplaceAll(a.body, `\"`, `"`), want) {
			t.Errorf("%s: got %d %s, want 422 with %q", change, a.StatusCode, a.body, want)
		}
	}
	if got := w.stored(t); !reflect.DeepEqual(got, before) || len(servicetest.Published(t, w.Mesh, subjects.ObserveQueue)) != 0 {
		t.Errorf("got %+v, want it unchanged and nothing published", got)
	}
}

func TestProxies_KeepPasswords(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	put := func(body string) wire.Proxy {
		t.Helper()
		a := w.request(t, "PUT", "/api/proxies/eu", body)
		var p wire.Proxy
		if err := json.Unmarshal([]byte(a.body), &p); a.StatusCode != 200 || err != nil {
			t.Fatalf("%s: got %d %s", body, a.StatusCode, a.body)
		}
		return p
	}
	got := put(`{"url":"http://me:s3cret@proxy.example:3128","hosts":["*.Example.ORG","example.org","пример.рф"],"always":true}`)
	want := wire.Proxy{ID: "eu", URL: "http://me:xxxxx@proxy.example:3128", Hosts: []string{"example.org", "xn--e1afmkfd.xn--p1ai"}, Always: true, Added: now}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// A response that is sent back keeps the password.
	put(`{"url":"http://me:xxxxx@other.example:3128"}`)
	kept, err := storage.Proxies(w.Store).List(t.Context())
	if err != nil || len(kept) != 1 || kept[0].URL != "http://me:s3cret@other.example:3128" || kept[0].Always || len(kept[0].Hosts) != 0 {
		t.Errorf("the store has %+v, %v", kept, err)
	}
	if got := getJSON[wire.Proxies](t, w, "/api/proxies"); len(got.Proxies) != 1 || got.Proxies[0].Hosts == nil {
		t.Errorf("got %+v, want this proxy only, with an empty list of hosts", got)
	}
	for body, want := range map[string]string{
		`{"url":"ftp://proxy.example"}`:                        "body.url",
		`{"url":"http://me:s3cret@%zz"}`:                       "body.url",
		`{"url":"http://p.example:1","hosts":["a/b"]}`:         "is no name of a host; write it as example.org",
		`{"url":"http://p.example:1","hosts":["","http://a"]}`: "is no name of a host",
	} {
		if a := w.request(t, "PUT", "/api/proxies/us", body); a.StatusCode != 422 || !strings.Contains(a.body, want) || strings.Contains(a.body, "s3cret") {
			t.Errorf("%s: got %d %s, want 422 with %q and no secret", body, a.StatusCode, a.body, want)
		}
	}
}

// TestSecrets_AreRedacted requests every route that returns feed settings.
func TestSecrets_AreRedacted(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.request(t, "PUT", "/api/proxies/eu", `{"url":"http://me:s3cret@proxy.example:3128"}`)
	w.set(t, `{"headers":{"Cookie":"s3cret"},"user":"me","password":"s3cret","proxy":"eu"}`)
	request := &storage.Request{Header: map[string]string{"Cookie": "s3cret"}, User: "me", Password: "s3cret"}
	w.Mesh.States[w.feed].Request = request
	task, err := json.Marshal(subjects.Crawl{Feeds: []subjects.Target{{FeedID: w.feed, Request: request, Routes: []subjects.Route{{ID: "eu", URL: "http://me:s3cret@proxy.example:3128"}}}},
		Probes: []subjects.Route{{ID: "eu", URL: "http://me:s3cret@proxy.example:3128"}}})
	if err != nil {
		t.Fatal(err)
	}
	w.Mesh.Tasks[3] = subjects.Quarantined{Seq: 3, Queue: "crawl", Message: task}
	for _, path := range []string{"/api/feeds", "/api/feeds/" + w.feed, "/api/feeds/export", "/api/proxies", "/api/quarantine", "/api/quarantine/3", "/api/status"} {
		if a := w.request(t, "GET", path, ""); a.StatusCode != 200 || strings.Contains(a.body, "s3cret") {
			t.Errorf("GET %s: got %d, and a secret in %s", path, a.StatusCode, a.body)
		}
	}
	if a := w.request(t, "GET", "/api/quarantine/3", ""); !strings.Contains(a.body, `me:xxxxx@proxy.example`) || !strings.Contains(a.body, `"password":"set"`) {
		t.Errorf("got %s, want the presence of secrets", a.body)
	}
	if w.Mesh.States[w.feed].Request != request {
		t.Error("the schedule's own state lost its request")
	}
}

func TestFeed_ReturnsPolls(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	got := getJSON[wire.Feed](t, w, "/api/feeds/"+w.feed).Polls
	if !reflect.DeepEqual(got, w.Mesh.PollLog[w.feed]) {
		t.Errorf("got %+v, want %+v", got, w.Mesh.PollLog[w.feed])
	}
	for _, f := range getJSON[wire.FeedPage](t, w, "/api/feeds").Feeds {
		if f.Polls != nil {
			t.Errorf("a list contains polls: %+v", f.Polls)
		}
	}
}

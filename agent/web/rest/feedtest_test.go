package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// tested runs a test fetch and returns its result.
func (w *testbed) tested(t *testing.T, what string) (wire.FetchTest, string) {
	t.Helper()
	a := w.request(t, "POST", "/api/feeds/test-fetch", what)
	var told wire.FetchTest
	if err := json.Unmarshal([]byte(a.body), &told); err != nil || a.StatusCode != 200 {
		t.Fatalf("%s: got %d %s", what, a.StatusCode, a.body)
	}
	return told, a.body
}

func header(lines []wire.FetchHeader, name string) string {
	for _, l := range lines {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

func TestTestFetch_RedactsSecrets(t *testing.T) {
	t.Parallel()
	var asked []*http.Request
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Clone(t.Context()))
		w.Header().Set("Set-Cookie", "session=s3cret")
		w.Header().Set("X-Note", "<b>")
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/feed", http.StatusMovedPermanently)
			return
		}
		w.Header().Set("ETag", `"1"`)
		fmt.Fprint(w, aFeed)
	}))
	defer site.Close()
	w := newTestbed(t)
	address := site.URL + "/old"
	id := storage.FeedID(address)
	_, err := w.Store.AddFeeds(t.Context(), storage.Feed{ID: id, URL: address, Added: now, Request: &storage.Request{
		UserAgent: "Reader", Header: map[string]string{"x-key": "k3y"}, User: "me", Password: "pa55",
	}})
	if err != nil {
		t.Fatal(err)
	}
	told, raw := w.tested(t, `{"feed":"`+id+`"}`)
	if len(told.Hops) != 2 || told.Hops[0].Status != 301 || told.Hops[1].Status != 200 || told.Hops[1].URL != site.URL+"/feed" {
		t.Fatalf("the hops are %+v", told.Hops)
	}
	sent, received := told.Hops[0].Sent, told.Hops[1].Received
	if header(sent, "User-Agent") != "Reader" || header(sent, "Authorization") != "set" || header(sent, "X-Key") != "set" || header(received, "Etag") != `"1"` ||
		header(received, "Set-Cookie") != "set" || header(received, "X-Note") != "<b>" {
		t.Errorf("sent %v, received %v", sent, received)
	}
	for _, secret := range []string{"k3y", "pa55", "s3cret", asked[0].Header.Get("Authorization")} {
		if strings.Contains(raw, secret) {
			t.Errorf("%s is not redacted", secret)
		}
	}
	if asked[0].Header.Get("X-Key") != "k3y" {
		t.Error("the request does not use the settings of the feed")
	}
	if told.Title != "News" || told.Format != "RSS" || told.Entries != 1 || len(told.First) != 1 || told.First[0].Title != "A" || told.Problem != nil || told.Size != int64(len(aFeed)) {
		t.Errorf("got %+v", told)
	}
	if f := w.feedOf(t, id); f.Items != 0 || len(w.Mesh.Published) != 0 {
		t.Errorf("the test left %d items and %d tasks behind", f.Items, len(w.Mesh.Published))
	}
}

func TestTestFetch_ReportsProblem(t *testing.T) {
	t.Parallel()
	site := aSite(t)
	w := newTestbed(t)
	for address, class := range map[string]string{
		site.URL + "/": "web page", site.URL + "/nothing": "http 4xx", "http://10.0.0.1/": "blocked", "http://169.254.169.254/latest": "blocked",
		"file:///etc/passwd": "address", "http://[::1]:22/": "blocked", "http://127.0.0.1:2/": "connect",
	} {
		told, _ := w.tested(t, `{"url":"`+address+`"}`)
		if told.Problem == nil || told.Problem.Class != class || told.Problem.Advice == "" || told.Error == "" || told.Entries != 0 {
			t.Errorf("%s: got %+v, %+v; want a problem of class %s", address, told, told.Problem, class)
		}
	}
}

func TestFeedPolls_Descriptions(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.Mesh.PollLog[w.feed] = append(w.Mesh.PollLog[w.feed],
		subjects.Poll{At: now.Add(-2 * time.Hour), Status: 304, UnchangedBefore: 9}, subjects.Poll{At: now.Add(-20 * time.Hour), Class: "timeout", UnchangedBefore: 1})
	polls := getJSON[wire.PollHistory](t, w, "/api/feeds/"+w.feed+"/polls").Polls
	if len(polls) != 4 || polls[0].What != "The host name does not resolve." || polls[0].Took != 15 || polls[1].What != "Document received (HTTP 200)." || polls[1].Proxy != "p1" ||
		polls[0].Reason != "" || polls[1].Reason != "price: 2.3 items a day" {
		t.Errorf("the polls are %+v", polls)
	}
	for i, want := range []string{"Nothing new (HTTP 304). The 9 polls before it brought nothing new.", "The request timed out. The poll before it brought nothing new."} {
		if got := polls[2+i]; got.What != want || got.Before != []int{9, 1}[i] {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
}

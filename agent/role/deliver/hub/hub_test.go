package hub

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"feedmesh/agent/role/deliver/channel"
	"feedmesh/agent/syndication"
)

func newChannel() *Channel { return New(http.DefaultTransport, "test", time.Now) }

// received is a request that a subscriber got.
type received struct {
	*http.Request
	body string
}

// subscriber returns the URL of a subscriber that gives a response, and its requests.
func subscriber(t *testing.T, respond func(http.ResponseWriter, *http.Request)) (address string, requests <-chan received) {
	t.Helper()
	got := make(chan received, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r, string(body)}
		respond(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func TestSend_FeedOfNewEntriesSigned(t *testing.T) {
	item := func(title string) channel.Item {
		return channel.Item{Entry: syndication.Entry{ID: "urn:uuid:" + title, Title: title, URL: "https://site.example/" + title, HTML: "<p>text</p>", Published: time.Now(), Updated: time.Now()}}
	}
	for ending, kind := range map[string]string{"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json"} {
		address, requests := subscriber(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
		topic := "https://mesh.example:8443/outputs/views/go." + ending + "?limit=5"
		response, err := newChannel().Send(t.Context(), channel.Receiver{Address: address + "/?a=b", Secret: "the secret", Topic: topic},
			channel.Message{Title: "Go", Items: []channel.Item{item("one"), item("two")}})
		if err != nil || response.Status != http.StatusAccepted {
			t.Fatalf("%s: got %+v, %v", ending, response, err)
		}
		got := <-requests
		if got.Method != "POST" || got.URL.RawQuery != "a=b" || got.Header.Get("Content-Type") != kind+"; charset=utf-8" ||
			got.Header.Get("Link") != `<https://mesh.example:8443/outputs/hub>; rel="hub", <`+topic+`>; rel="self"` {
			t.Errorf("%s: got %+v", ending, got.Header)
		}
		mac := hmac.New(sha256.New, []byte("the secret"))
		mac.Write([]byte(got.body))
		if got.Header.Get("X-Hub-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("%s: the signature is %s", ending, got.Header.Get("X-Hub-Signature"))
		}
		feed, err := gofeed.NewParser().ParseString(got.body)
		if err != nil || feed.Title != "Go" || len(feed.Items) != 2 || feed.Items[1].Title != "two" || feed.FeedLink != topic {
			t.Errorf("%s: got %+v, %v", ending, feed, err)
		}
	}
}

func TestSend_StatusOfSubscriber(t *testing.T) {
	for status, isGone := range map[int]bool{500: false, 404: false, 410: true, 302: false} {
		address, requests := subscriber(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		})
		_, err := newChannel().Send(t.Context(), channel.Receiver{Address: address, Topic: "https://mesh.example/outputs/views/go.rss"}, channel.Message{})
		got, is := err.(*channel.ResponseError)
		if !is || got.Status != status || got.IsGone != isGone || len(requests) != 1 {
			t.Errorf("got %v and %d requests for %d", err, len(requests), status)
		}
		if r := <-requests; r.Header.Get("X-Hub-Signature") != "" {
			t.Error("signed without a secret")
		}
	}
}

func TestVerify(t *testing.T) {
	const topic = "https://mesh.example/outputs/views/go.rss?a&b=c"
	respond := func(status int, body func(challenge string) string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body(r.URL.Query().Get("hub.challenge")))
		}
	}
	same := func(challenge string) string { return challenge }
	address, requests := subscriber(t, respond(200, same))
	if err := newChannel().Verify(t.Context(), address+"/cb?own=1&own=2", Subscribe, topic, time.Hour); err != nil {
		t.Error(err)
	}
	query := (<-requests).URL.Query()
	if len(query["own"]) != 2 || query.Get("hub.mode") != Subscribe || query.Get("hub.topic") != topic || query.Get("hub.lease_seconds") != "3600" || len(query.Get("hub.challenge")) < 20 {
		t.Errorf("got %v", query)
	}
	if err := newChannel().Verify(t.Context(), address, Unsubscribe, topic, time.Hour); err != nil {
		t.Error(err)
	}
	if query := (<-requests).URL.Query(); query.Get("hub.mode") != Unsubscribe || query.Has("hub.lease_seconds") {
		t.Errorf("got %v", query)
	}
	for name, respond := range map[string]func(http.ResponseWriter, *http.Request){
		"404": respond(404, same),
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
		},
		"no challenge":      respond(200, func(string) string { return "" }),
		"more":              respond(200, func(challenge string) string { return challenge + "\n" }),
		"other challenge":   respond(200, strings.ToLower),
		"without an answer": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		address, _ := subscriber(t, respond)
		if err := newChannel().Verify(t.Context(), address, Subscribe, topic, time.Hour); err == nil || strings.Contains(err.Error(), address) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

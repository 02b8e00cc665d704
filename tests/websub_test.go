package tests

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/config"
)

// A publisher has feeds and a hub, which confirms subscriptions and signs its pushes.
type publisher struct {
	t       *testing.T
	address string

	mu         sync.Mutex
	items      string                // of all feeds, newest first
	polls      map[string]int        // number of polls, by path
	subscribed map[string]url.Values // confirmed subscription requests, by topic
	refusals   int                   // callbacks that did not confirm
}

func newPublisher(t *testing.T) *publisher {
	p := &publisher{t: t, polls: map[string]int{}, subscribed: map[string]url.Values{}}
	p.address = serve(t, p)
	return p
}

func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/hub" {
		if err := r.ParseForm(); err != nil {
			p.t.Error(err)
		}
		w.WriteHeader(http.StatusAccepted)
		go p.confirm(r.PostForm)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.polls[r.URL.Path]++
	if strings.HasPrefix(r.URL.Path, "/pushed") {
		w.Header().Add("Link", `</hub>; rel="hub"`)
		w.Header().Add("Link", fmt.Sprintf(`<%s>; rel="self"`, p.topic(r.URL.Path)))
	}
	io.WriteString(w, document(p.items))
}

func (p *publisher) topic(path string) string { return p.address + path }

// publish adds an entry at the top, and returns it.
func (p *publisher) publish(title string, at time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry := item(title, at)
	p.items = entry + p.items
	return entry
}

func item(title string, at time.Time) string {
	return fmt.Sprintf("<item><guid>%s</guid><title>%s</title><pubDate>%s</pubDate></item>", title, title, at.Format(time.RFC1123Z))
}

func document(items string) string {
	return `<rss version="2.0"><channel><title>Feed</title><link>http://feed.example/</link>` + items + "</channel></rss>"
}

// confirm verifies a subscription with its callback.
func (p *publisher) confirm(form url.Values) {
	challenge := rand.Text()
	resp, err := http.Get(form.Get("hub.callback") + "?" + url.Values{
		"hub.mode": form["hub.mode"], "hub.topic": form["hub.topic"], "hub.challenge": {challenge}, "hub.lease_seconds": {"86400"},
	}.Encode())
	if err != nil {
		return // the node has ended
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case resp.StatusCode != http.StatusOK || string(answer) != challenge:
		p.refusals++
	case form.Get("hub.mode") == "subscribe":
		p.subscribed[form.Get("hub.topic")] = form
	default:
		delete(p.subscribed, form.Get("hub.topic"))
	}
}

// subscription returns the subscription request of a topic, or nil.
func (p *publisher) subscription(topic string) url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.subscribed[topic]
}

// push sends a body to the subscriber, signed with the secret.
func (p *publisher) push(form url.Values, secret, body string) int {
	p.t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	io.WriteString(mac, body)
	r, err := http.NewRequest(http.MethodPost, form.Get("hub.callback"), strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/rss+xml")
	r.Header.Set("X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// read returns the number of a feed's polls.
func (p *publisher) read(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.polls[path]
}

// TestWebSub_FeedIsPushed tests a push end to end: subscription, confirmation, push, search, and then fewer
// polls.
func TestWebSub_FeedIsPushed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute and a half: subscriptions are checked once a minute")
	}
	t.Parallel()
	p := newPublisher(t)
	const hours = 48 // an entry in each hour of the day, so that the intervals do not depend on the time of the test
	for i := range hours {
		p.publish(fmt.Sprintf("old%d", i), time.Now().Add(time.Duration(i-hours)*time.Hour))
	}
	const pushed, plain = "/pushed", "/plain"

	c := settings(t.TempDir())
	c.Listen, c.Token = freeAddr(t), "s3cret" // hubs do not have the token
	c.PublicURL = config.Address("http://" + c.Listen + "/")
	clock := new(skewed)
	n := start(t, c, clock.now)
	n.add(p.topic(pushed), p.topic(plain))
	n.waitSettled()

	topic := p.topic(pushed)
	within(t, 4*time.Minute, "the hub has confirmed the subscription", func() bool { return p.subscription(topic) != nil })
	form := p.subscription(topic)
	if p.subscription(p.topic(plain)) != nil || p.refusals > 0 {
		t.Errorf("a feed without a hub is subscribed, or one of %d callbacks was rejected", p.refusals)
	}

	polls := p.read(pushed)
	if status := p.push(form, "guessed", document(item("forged", time.Now()))); status/100 != 2 {
		t.Errorf("a forged push was answered %d: its sender learns that the secret was wrong", status)
	}
	const pushes = 5
	for i := range pushes {
		title := fmt.Sprintf("fresh%d", i)
		began := time.Now()
		if status := p.push(form, form.Get("hub.secret"), document(p.publish(title, began))); status/100 != 2 {
			t.Fatalf("a push was answered %d", status)
		}
		within(t, time.Minute, title+" is searchable", func() bool { return n.finds(title) })
		t.Logf("%s was searchable %v after the push", title, time.Since(began).Round(time.Millisecond))
	}
	if n.finds("forged") {
		t.Error("forged content is searchable")
	}
	if now := p.read(pushed); now != polls {
		t.Errorf("the feed was polled %d times while it was pushed, want none: nothing was due", now-polls)
	}

	// A starting node reads the subscription and calibrates its policy immediately; a running one within
	// minutes. From then on the feed's interval is longer.
	n.stop()
	clock.add(6 * time.Hour) // the burst of pushes raises the rate of its hour of the day, in the pushed feed more than in the other
	n = start(t, c, clock.now)
	var states map[string]wire.Feed
	within(t, 3*time.Minute, "the schedule has received the lease", func() bool {
		states = n.polledAgain()
		return !states[topic].State.PushUntil.IsZero()
	})
	states = n.polledAgain() // the poll that saw the lease may have been planned without it
	if trust := states[topic].State.PushTrust; trust < 0.7 {
		t.Errorf("got trust %v after %d pushes, want more than 0.7", trust, pushes)
	}
	with, without := states[topic], states[p.topic(plain)]
	t.Logf("polled next after %v with a hub (%s) and %v without (%s)", wait(with), with.State.Reason, wait(without), without.State.Reason)
	if wait(with) < wait(without)*5/4 {
		t.Error("want at least a quarter more with a hub")
	}

	if _, err := client.Call(t.Context(), n.Client, wire.RemoveFeed, wire.ByID{ID: states[topic].ID}); err != nil {
		t.Fatal(err)
	}
	within(t, 4*time.Minute, "the hub receives the unsubscription", func() bool { return p.subscription(topic) == nil })
}

// wait returns the time from a feed's last poll to its next one.
func wait(f wire.Feed) time.Duration { return f.State.Next.Sub(f.State.Polled) }

// finds reports whether a search for the word has results.
func (r *running) finds(word string) bool {
	r.t.Helper()
	found, err := client.Call(r.t.Context(), r.Client, wire.SearchItems, wire.Search{Query: word, Limit: 1})
	if err != nil {
		r.t.Fatal(err)
	}
	return len(found.Items) > 0
}

// polledAgain polls all feeds now and returns them afterwards, by URL.
func (r *running) polledAgain() map[string]wire.Feed {
	r.t.Helper()
	before, feeds := map[string]time.Time{}, map[string]wire.Feed{}
	r.eachFeed(func(f wire.Feed) {
		before[f.URL] = f.State.Polled
		if _, err := client.Call(r.t.Context(), r.Client, wire.RefreshFeed, wire.ByID{ID: f.ID}); err != nil {
			r.t.Fatal(err)
		}
	})
	within(r.t, 3*time.Minute, "all feeds are polled again", func() bool {
		all := true
		r.eachFeed(func(f wire.Feed) {
			feeds[f.URL] = f
			all = all && f.State.Polled.After(before[f.URL]) && f.State.Crawl == ""
		})
		return all
	})
	return feeds
}

// within fails the test unless ok becomes true before a timeout.
func within(t *testing.T, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(d); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("condition not met within %v: %s", d, what)
		}
	}
}

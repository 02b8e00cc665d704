package websub

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestOnlyTheHubDelivers: what is not signed with the secret is ignored, and
// whoever sent it does not learn so.
func TestOnlyTheHubDelivers(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	w.want(feed, hub.URL, topic)
	hub.publish(topic, "one")
	s := w.is(feed, Verified)
	callback := w.server.URL + Path + s.Token
	for _, c := range []struct {
		name, body string
		signatures []string
		outcome    string
	}{
		{"not signed", "x", nil, unsigned},
		{"signed in a way we do not know", "x", []string{"md5=0123", "crc"}, unsigned},
		{"signed with another secret", "x", []string{"sha256=" + sign("guess", "x")}, forged},
		{"another body's signature", "x", []string{"sha256=" + sign(s.Secret, "y")}, forged},
		{"half a signature", "x", []string{"sha256=" + sign(s.Secret, "x")[:32]}, forged},
		{"no digits", "x", []string{"sha1=zz"}, forged},
		{"played again", "one", []string{"sha256=" + sign(s.Secret, "one")}, repeated},
	} {
		before := w.calls(c.outcome)
		if status := hub.push(callback, c.body, c.signatures...); status != http.StatusAccepted {
			t.Errorf("%s: answered %d, want 202", c.name, status)
		}
		if n := w.calls(c.outcome) - before; n != 1 {
			t.Errorf("%s: %s was counted %d times, want once", c.name, c.outcome, n)
		}
	}
	if got := w.delivered(); len(got) != 1 || string(got[0].Body) != "one" {
		t.Errorf("delivered %q, want what the hub pushed, once", got)
	}
	if status := hub.push(w.server.URL+Path+strings.Repeat("A", 26), "x"); status != http.StatusGone {
		t.Errorf("a push for nobody was answered %d, want 410", status)
	}
}

// TestOnlyWhatWasAskedIsConfirmed: everything else is answered 404 and changes
// nothing.
func TestOnlyWhatWasAskedIsConfirmed(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	hub.mute = true
	w.want(feed, hub.URL, topic)
	w.want("other", hub.URL, "https://b.test/")
	before := w.is(feed, Asked)
	own := "/websub/" + before.Token
	for _, query := range []string{
		own, own + "?hub.mode=subscribe&hub.challenge=c",
		own + "?hub.mode=subscribe&hub.challenge=c&hub.topic=https://b.test/",
		own + "?hub.mode=subscribe&hub.topic=TOPIC",
		own + "?hub.mode=unsubscribe&hub.challenge=c&hub.topic=TOPIC",
		own + "?hub.mode=x&hub.challenge=c&hub.topic=TOPIC",
		own + "?hub.mode=denied&hub.topic=https://b.test/",
		own + "?hub.mode=subscribe&hub.topic=TOPIC&hub.challenge=" + strings.Repeat("c", maxChallenge+1),
		"/websub/", "/websub/..", "/websub/*", "/websub/" + strings.Repeat("A", 26) + "?hub.mode=subscribe&hub.challenge=c&hub.topic=TOPIC",
		"/websub/" + strings.ToLower(before.Token),
	} {
		query = strings.ReplaceAll(query, "TOPIC", "https%3A%2F%2Fa.test%2Ffeed%3Fa%3D1%26b%3D%C3%BC")
		if status, body := w.call(http.NewRequest(http.MethodGet, w.server.URL+query, nil)); status != http.StatusNotFound || body == "c" {
			t.Errorf("%.150s: answered %d %q, want 404", query, status, body)
		}
	}
	if after := w.stored(feed); after.Revision != before.Revision {
		t.Errorf("it became %+v", after)
	}
	if status, _ := w.call(http.NewRequest(http.MethodPut, w.server.URL+own, nil)); status != http.StatusMethodNotAllowed {
		t.Errorf("PUT was answered %d", status)
	}
}

// TestAHubMayAskAgain: one that missed our answer gets it again, for a while.
func TestAHubMayAskAgain(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	w.want(feed, hub.URL, topic)
	hub.times("subscribe")
	ask := func(mode string) int {
		s := w.stored(feed)
		status, _ := w.call(http.NewRequest(http.MethodGet, s.Base+Path+s.Token+"?hub.mode="+mode+"&hub.challenge=c&hub.topic=https%3A%2F%2Fa.test%2Ffeed%3Fa%3D1%26b%3D%C3%BC", nil))
		return status
	}
	if status := ask("subscribe"); status != http.StatusOK {
		t.Errorf("answered %d, want 200", status)
	}
	w.wait(patience + time.Second)
	if status := ask("subscribe"); status != http.StatusNotFound {
		t.Errorf("long after it was asked, the hub is answered %d, want 404", status)
	}
	w.want(feed, "", "")
	hub.times("unsubscribe")
	if status := ask("unsubscribe"); status != http.StatusOK {
		t.Errorf("answered %d, want 200", status)
	}
	if status := ask("subscribe"); status != http.StatusNotFound {
		t.Errorf("what was ended can be had again: %d", status)
	}
}

// TestLeases tells what we make of what hubs grant.
func TestLeases(t *testing.T) {
	for grants, want := range map[string]struct{ lease, renewed time.Duration }{
		"3600":                 {time.Hour, 40 * time.Minute},
		"1":                    {time.Second, minRenew},
		"0":                    {lease, lease * 2 / 3},
		"-7":                   {lease, lease * 2 / 3},
		"none":                 {lease, lease * 2 / 3},
		"ten days":             {lease, lease * 2 / 3},
		"100000000":            {maxLease, maxLease * 2 / 3},
		"99999999999999999999": {maxLease, maxLease * 2 / 3},
	} {
		t.Run(grants, func(t *testing.T) {
			w, hub := newWorld(t), newHub(t)
			hub.lease = grants
			w.want(feed, hub.URL, topic)
			hub.times("subscribe")
			s := w.is(feed, Verified)
			if s.Lease != want.lease || !s.Until.Equal(start.Add(want.lease)) || !s.Next.Equal(start.Add(want.renewed)) {
				t.Errorf("lease of %v until %v, renewed at %v; want %v", s.Lease, s.Until, s.Next, want)
			}
		})
	}
}

// TestDeliverFails: the hub is told to try again, and when it does, it succeeds.
func TestDeliverFails(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	w.want(feed, hub.URL, topic)
	hub.times("subscribe")
	callback := w.server.URL + Path + w.is(feed, Verified).Token
	w.failing = errors.New("the queue is full")
	if status := hub.publish(topic, "one")[callback]; status != http.StatusServiceUnavailable {
		t.Errorf("answered %d, want 503", status)
	}
	w.failing = nil
	if status := hub.publish(topic, "one")[callback]; status != http.StatusAccepted || len(w.delivered()) != 1 {
		t.Errorf("the second try was answered %d", status)
	}
}

// TestPushesAreBounded in size and number.
func TestPushesAreBounded(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	w.want(feed, hub.URL, topic)
	hub.times("subscribe")
	callback := w.server.URL + Path + w.is(feed, Verified).Token
	if status := hub.publish(topic, strings.Repeat("x", maxBody+1))[callback]; status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of more than %d bytes was answered %d, want 413", maxBody, status)
	}
	if status := hub.publish(topic, strings.Repeat("x", maxBody))[callback]; status != http.StatusAccepted {
		t.Errorf("a body of %d bytes was answered %d, want 202", maxBody, status)
	}
	for i := range maxBurst - 2 {
		if status := hub.publish(topic, fmt.Sprint(i))[callback]; status != http.StatusAccepted {
			t.Fatalf("push %d was answered %d, want 202", i, status)
		}
	}
	if status := hub.publish(topic, "one more")[callback]; status != http.StatusTooManyRequests {
		t.Errorf("push %d was answered %d, want 429", maxBurst+1, status)
	}
	w.wait(pushEvery)
	if status := hub.publish(topic, "one more")[callback]; status != http.StatusAccepted {
		t.Errorf("after a pause it was answered %d, want 202", status)
	}
	if s := w.stored(feed); len(s.Seen) > maxSeen*seenHash || !s.Pushed.Equal(w.time()) {
		t.Errorf("%d bytes are remembered, last push at %v", len(s.Seen), s.Pushed)
	}
}

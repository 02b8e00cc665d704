package websub

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A body without a valid signature is ignored, and its sender gets the same
// response.
func TestHandler_InvalidSignatureIsIgnored(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	w.setHub(feed, hub.URL, topic)
	hub.publish(topic, "one")
	s := w.checkState(feed, Verified)
	callback := w.server.URL + Path + s.Token
	for _, c := range []struct {
		name, body string
		signatures []string
		outcome    string
	}{
		{"not signed", "x", nil, unsigned},
		{"unsupported method", "x", []string{"md5=0123", "crc"}, unsigned},
		{"other secret", "x", []string{"sha256=" + sign("guess", "x")}, forged},
		{"signature of another body", "x", []string{"sha256=" + sign(s.Secret, "y")}, forged},
		{"truncated signature", "x", []string{"sha256=" + sign(s.Secret, "x")[:32]}, forged},
		{"not hexadecimal", "x", []string{"sha1=zz"}, forged},
		{"replay", "one", []string{"sha256=" + sign(s.Secret, "one")}, repeated},
	} {
		before := w.calls(c.outcome)
		if status := hub.push(callback, c.body, c.signatures...); status != http.StatusAccepted {
			t.Errorf("%s: got %d, want 202", c.name, status)
		}
		if n := w.calls(c.outcome) - before; n != 1 {
			t.Errorf("%s: outcome %s counted %d times, want 1", c.name, c.outcome, n)
		}
	}
	if got := w.delivered(); len(got) != 1 || string(got[0].Body) != "one" {
		t.Errorf("got deliveries %+v, want the pushed body once", got)
	}
	if status := hub.push(w.server.URL+Path+strings.Repeat("A", 26), "x"); status != http.StatusGone {
		t.Errorf("push without subscription: got %d, want 410", status)
	}
}

// A verification without a matching request gets 404 and changes nothing.
func TestHandler_UnrequestedConfirmationIs404(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	hub.neverVerify = true
	w.setHub(feed, hub.URL, topic)
	w.setHub("other", hub.URL, "https://b.test/")
	before := w.checkState(feed, Requested)
	callback := "/websub/" + before.Token
	for _, query := range []string{
		callback, callback + "?hub.mode=subscribe&hub.challenge=c",
		callback + "?hub.mode=subscribe&hub.challenge=c&hub.topic=https://b.test/",
		callback + "?hub.mode=subscribe&hub.topic=TOPIC",
		callback + "?hub.mode=unsubscribe&hub.challenge=c&hub.topic=TOPIC",
		callback + "?hub.mode=x&hub.challenge=c&hub.topic=TOPIC",
		callback + "?hub.mode=denied&hub.topic=https://b.test/",
		callback + "?hub.mode=subscribe&hub.topic=TOPIC&hub.challenge=" + strings.Repeat("c", maxChallenge+1),
		"/websub/", "/websub/..", "/websub/*", "/websub/" + strings.Repeat("A", 26) + "?hub.mode=subscribe&hub.challenge=c&hub.topic=TOPIC",
		"/websub/" + strings.ToLower(before.Token),
	} {
		query = strings.ReplaceAll(query, "TOPIC", "https%3A%2F%2Fa.test%2Ffeed%3Fa%3D1%26b%3D%C3%BC")
		if status, body := w.call(http.NewRequest(http.MethodGet, w.server.URL+query, nil)); status != http.StatusNotFound || body == "c" {
			t.Errorf("%.150s: got %d %q, want 404", query, status, body)
		}
	}
	if after := w.stored(feed); after.Revision != before.Revision {
		t.Errorf("got subscription %+v, want it unchanged", after)
	}
	if status, _ := w.call(http.NewRequest(http.MethodPut, w.server.URL+callback, nil)); status != http.StatusMethodNotAllowed {
		t.Errorf("PUT: got %d, want 405", status)
	}
}

// A hub that missed the response may verify again until confirmTimeout.
func TestHandler_RepeatedVerification(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	w.setHub(feed, hub.URL, topic)
	hub.countRequests("subscribe")
	verify := func(mode string) int {
		s := w.stored(feed)
		status, _ := w.call(http.NewRequest(http.MethodGet, s.Base+Path+s.Token+"?hub.mode="+mode+"&hub.challenge=c&hub.topic=https%3A%2F%2Fa.test%2Ffeed%3Fa%3D1%26b%3D%C3%BC", nil))
		return status
	}
	if status := verify("subscribe"); status != http.StatusOK {
		t.Errorf("got %d, want 200", status)
	}
	w.advance(confirmTimeout + time.Second)
	if status := verify("subscribe"); status != http.StatusNotFound {
		t.Errorf("verification after the timeout: got %d, want 404", status)
	}
	w.setHub(feed, "", "")
	hub.countRequests("unsubscribe")
	if status := verify("unsubscribe"); status != http.StatusOK {
		t.Errorf("got %d, want 200", status)
	}
	if status := verify("subscribe"); status != http.StatusNotFound {
		t.Errorf("subscribe verification after unsubscribe: got %d, want 404", status)
	}
}

// Granted leases are bounded; invalid values count as the requested lease.
func TestHandler_LeaseBounds(t *testing.T) {
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
			w, hub := newTestbed(t), newHub(t)
			hub.lease = grants
			w.setHub(feed, hub.URL, topic)
			hub.countRequests("subscribe")
			s := w.checkState(feed, Verified)
			if s.Lease != want.lease || !s.Until.Equal(start.Add(want.lease)) || !s.Next.Equal(start.Add(want.renewed)) {
				t.Errorf("got lease %v until %v, renewal at %v; want %v", s.Lease, s.Until, s.Next, want)
			}
		})
	}
}

// After a failed delivery the hub gets 503, and its retry is delivered.
func TestHandler_FailedDeliveryIs503(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	w.setHub(feed, hub.URL, topic)
	hub.countRequests("subscribe")
	callback := w.server.URL + Path + w.checkState(feed, Verified).Token
	w.failing = errors.New("the queue is full")
	if status := hub.publish(topic, "one")[callback]; status != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503", status)
	}
	w.failing = nil
	if status := hub.publish(topic, "one")[callback]; status != http.StatusAccepted || len(w.delivered()) != 1 {
		t.Errorf("retry: got %d, want 202 and one delivery", status)
	}
}

// Pushes are limited in size and rate.
func TestHandler_PushLimits(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	w.setHub(feed, hub.URL, topic)
	hub.countRequests("subscribe")
	callback := w.server.URL + Path + w.checkState(feed, Verified).Token
	if status := hub.publish(topic, strings.Repeat("x", maxBody+1))[callback]; status != http.StatusRequestEntityTooLarge {
		t.Errorf("body of more than %d bytes: got %d, want 413", maxBody, status)
	}
	if status := hub.publish(topic, strings.Repeat("x", maxBody))[callback]; status != http.StatusAccepted {
		t.Errorf("body of %d bytes: got %d, want 202", maxBody, status)
	}
	for i := range maxBurst - 2 {
		if status := hub.publish(topic, fmt.Sprint(i))[callback]; status != http.StatusAccepted {
			t.Fatalf("push %d: got %d, want 202", i, status)
		}
	}
	if status := hub.publish(topic, "one more")[callback]; status != http.StatusTooManyRequests {
		t.Errorf("push %d: got %d, want 429", maxBurst+1, status)
	}
	w.advance(pushInterval)
	if status := hub.publish(topic, "one more")[callback]; status != http.StatusAccepted {
		t.Errorf("push after the interval: got %d, want 202", status)
	}
	if s := w.stored(feed); len(s.Seen) > maxSeen*seenHash || !s.Pushed.Equal(w.time()) {
		t.Errorf("got %d bytes of hashes, last push at %v", len(s.Seen), s.Pushed)
	}
}

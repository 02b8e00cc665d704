package websub

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Retries back off exponentially, and a valid lease stays valid.
func TestSubscriber_UnavailableHubBacksOff(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	w.setHub(feed, hub.URL, topic)
	hub.countRequests("subscribe")
	hub.status, hub.body = http.StatusBadGateway, "<html>\nno"
	w.advance(lease * 2 / 3)
	for i, want := range []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute} {
		w.runRound()
		s := w.checkState(feed, Failed)
		if got := s.Next.Sub(w.time()); got != want || s.Error != "the hub returned status 502" {
			t.Errorf("failure %d: got a retry after %v (%s), want %v", i, got, s.Error, want)
		}
		if !w.time().Before(s.Until) {
			t.Errorf("failure %d: got the lease ended, want it valid", i)
		}
		w.advance(want)
	}
	w.advance(lease)
	if s := w.stored(feed); w.time().Before(s.Until) {
		t.Error("got an expired lease reported as valid")
	}
	hub.status = 0
	w.runRound()
	hub.countRequests("subscribe")
	if s := w.checkState(feed, Verified); s.Failures != 0 || s.Error != "" {
		t.Errorf("got %d failures after success (%s), want 0", s.Failures, s.Error)
	}
}

// An unavailable hub gets one request in a round, however many subscriptions it has.
func TestSubscriber_UnavailableHubGetsOneRequestPerRound(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	hub.status = http.StatusTooManyRequests
	for i := range 5 {
		if err := w.SetHub(t.Context(), fmt.Sprint(i), fmt.Sprintf("%s/%d", hub.URL, i), topic); err != nil {
			t.Fatal(err)
		}
	}
	w.runRound()
	if n := hub.countRequests("subscribe"); n != 1 {
		t.Errorf("got %d requests, want 1", n)
	}
	hub.status = 0
	w.runRound()
	if n := hub.countRequests("subscribe"); n != 5 {
		t.Errorf("got %d requests after recovery, want 5", n)
	}
}

// The error of an unreachable hub is stored as text.
func TestSubscriber_UnreachableHub(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	hub.Close()
	w.setHub(feed, hub.URL, topic)
	if s := w.checkState(feed, Failed); !strings.HasPrefix(s.Error, "hub request failed: ") || !strings.Contains(s.Error, "refused") {
		t.Errorf("got %q", s.Error)
	}
	for range 20 {
		w.advance(w.stored(feed).Next.Sub(w.time()))
		w.runRound()
	}
	if got := w.stored(feed).Next.Sub(w.time()); got != maxBackoff {
		t.Errorf("got a final retry delay of %v, want %v", got, maxBackoff)
	}
}

// A denial is kept for a day, with the hub's text.
func TestSubscriber_DenialIsKeptForADay(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	hub.status, hub.body = http.StatusUnprocessableEntity, "we do not know\n that\x07 topic "+strings.Repeat("ü", 500)
	w.setHub(feed, hub.URL, topic)
	s := w.checkState(feed, Denied)
	if !strings.HasPrefix(s.Error, "the hub returned status 422: we do not know that topic ü") || len(s.Error) > 250 || !s.Next.Equal(start.Add(day)) {
		t.Errorf("got %q, retry at %v", s.Error, s.Next)
	}
	hub.status = 0
	w.advance(day - time.Second)
	w.runRound()
	if n := hub.countRequests("subscribe"); n != 1 {
		t.Errorf("got another request within a day, want none")
	}
	w.advance(time.Second)
	w.runRound()
	hub.countRequests("subscribe")
	s = w.checkState(feed, Verified)

	status, _ := w.call(http.NewRequest(http.MethodGet, s.Base+Path+s.Token+"?hub.mode=denied&hub.reason=closed&hub.topic=https%3A%2F%2Fa.test%2Ffeed%3Fa%3D1%26b%3D%C3%BC", nil))
	if s = w.checkState(feed, Denied); status != http.StatusOK || s.Error != "the hub refused: closed" || w.time().Before(s.Until) || !s.Next.Equal(w.time().Add(day)) {
		t.Errorf("denial of a subscription: got status %d and %+v, want 200 and denied for a day", status, s)
	}
	if answers := hub.publish(topic, "x"); len(answers) != 1 || answers[s.Base+Path+s.Token] != http.StatusGone {
		t.Errorf("push after a denial: got %v, want 410", answers)
	}
}

// A request without confirmation fails after an hour; the error states the likely cause.
func TestSubscriber_ConfirmationTimeout(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	hub.neverVerify = true
	w.setHub(feed, hub.URL, topic)
	w.advance(confirmTimeout - time.Second)
	w.runRound()
	s := w.checkState(feed, Requested)
	if w.time().Before(s.Until) {
		t.Error("got a valid lease without confirmation")
	}
	if status := hub.push(s.Base+Path+s.Token, "x", "sha256="+sign(s.Secret, "x")); status != http.StatusGone {
		t.Errorf("push without a confirmed subscription: got %d, want 410", status)
	}
	w.advance(time.Second)
	w.runRound()
	s = w.checkState(feed, Failed)
	if want := "the hub did not confirm the subscription within 1h0m0s: can it reach " + w.server.URL + "/websub/?"; s.Error != want {
		t.Errorf("got %q, want %q", s.Error, want)
	}
	hub.neverVerify = false
	w.advance(minBackoff)
	w.runRound()
	hub.countRequests("subscribe")
	w.checkState(feed, Verified)
}

// A hub may verify before it responds to the request, whatever the response.
func TestHandler_ConfirmationBeforeResponse(t *testing.T) {
	for _, answer := range []int{0, http.StatusNoContent, http.StatusInternalServerError, http.StatusBadRequest} {
		t.Run(fmt.Sprint(answer), func(t *testing.T) {
			w, hub := newTestbed(t), newHub(t)
			hub.verifyFirst, hub.status = true, answer
			w.setHub(feed, hub.URL, topic)
			if s := w.checkState(feed, Verified); s.Failures != 0 {
				t.Errorf("got %d failures, want 0", s.Failures)
			}
		})
	}
}

// After maxUnsubscribes unconfirmed requests the record is deleted, and pushes
// get 410.
func TestSubscriber_UnconfirmedUnsubscribe(t *testing.T) {
	w, hub := newTestbed(t), newHub(t)
	w.setHub(feed, hub.URL, topic)
	hub.countRequests("subscribe")
	s := w.checkState(feed, Verified)
	hub.neverVerify = true
	w.setHub(feed, "", "")
	for range 10 {
		w.advance(confirmTimeout)
		w.runRound()
	}
	if n := hub.countRequests("unsubscribe"); n != maxUnsubscribes {
		t.Errorf("got %d unsubscribe requests, want %d", n, maxUnsubscribes)
	}
	if left := w.stored(feed); left.Token != "" {
		t.Errorf("got %+v, want it deleted", left)
	}
	if answers := hub.publish(topic, "x"); answers[s.Base+Path+s.Token] != http.StatusGone {
		t.Errorf("push: got %v, want 410", answers)
	}
}

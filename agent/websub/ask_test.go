package websub

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAHubThatIsDown is asked ever more rarely, and costs no lease that still runs.
func TestAHubThatIsDown(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	w.want(feed, hub.URL, topic)
	hub.times("subscribe")
	hub.answer, hub.says = http.StatusBadGateway, "<html>\nno"
	w.wait(lease * 2 / 3)
	for i, want := range []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute} {
		w.act()
		s := w.is(feed, Failed)
		if got := s.Next.Sub(w.time()); got != want || s.Error != "the hub answered 502" {
			t.Errorf("failure %d: again after %v (%s), want %v", i, got, s.Error, want)
		}
		if !s.Live(w.time()) {
			t.Errorf("failure %d: the lease is lost", i)
		}
		w.wait(want)
	}
	w.wait(lease)
	if s := w.stored(feed); s.Live(w.time()) {
		t.Error("a lease that ended counts")
	}
	hub.answer = 0
	w.act()
	hub.times("subscribe")
	if s := w.is(feed, Verified); s.Failures != 0 || s.Error != "" {
		t.Errorf("after success there are still %d failures: %s", s.Failures, s.Error)
	}
}

// TestAHubThatIsDownIsAskedOnce in a round, whatever it has to do with.
func TestAHubThatIsDownIsAskedOnce(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	hub.answer = http.StatusTooManyRequests
	for i := range 5 {
		if err := w.Want(t.Context(), fmt.Sprint(i), fmt.Sprintf("%s/%d", hub.URL, i), topic); err != nil {
			t.Fatal(err)
		}
	}
	w.act()
	if n := hub.times("subscribe"); n != 1 {
		t.Errorf("it was asked %d times, want once", n)
	}
	hub.answer = 0
	w.act()
	if n := hub.times("subscribe"); n != 5 {
		t.Errorf("up again, it was asked %d times in all, want 5", n)
	}
}

// TestNoHub: an address that nobody answers at says so in words.
func TestNoHub(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	hub.Close()
	w.want(feed, hub.URL, topic)
	if s := w.is(feed, Failed); !strings.HasPrefix(s.Error, "the hub could not be asked: ") || !strings.Contains(s.Error, "refused") {
		t.Errorf("got %q", s.Error)
	}
	for range 20 {
		w.wait(w.stored(feed).Next.Sub(w.time()))
		w.act()
	}
	if got := w.stored(feed).Next.Sub(w.time()); got != maxBackOff {
		t.Errorf("in the end it is asked every %v, want %v", got, maxBackOff)
	}
}

// TestRefusals are remembered for a day, with the hub's words.
func TestRefusals(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	hub.answer, hub.says = http.StatusUnprocessableEntity, "we do not know\n that\x07 topic "+strings.Repeat("ü", 500)
	w.want(feed, hub.URL, topic)
	s := w.is(feed, Denied)
	if !strings.HasPrefix(s.Error, "the hub answered 422: we do not know that topic ü") || len(s.Error) > 250 || !s.Next.Equal(start.Add(day)) {
		t.Errorf("got %q, again at %v", s.Error, s.Next)
	}
	hub.answer = 0
	w.wait(day - time.Second)
	w.act()
	if n := hub.times("subscribe"); n != 1 {
		t.Errorf("the hub was asked again within a day")
	}
	w.wait(time.Second)
	w.act()
	hub.times("subscribe")
	s = w.is(feed, Verified)

	status, _ := w.call(http.NewRequest(http.MethodGet, s.Base+Path+s.Token+"?hub.mode=denied&hub.reason=closed&hub.topic=https%3A%2F%2Fa.test%2Ffeed%3Fa%3D1%26b%3D%C3%BC", nil))
	if s = w.is(feed, Denied); status != http.StatusOK || s.Error != "the hub refused: closed" || s.Live(w.time()) || !s.Next.Equal(w.time().Add(day)) {
		t.Errorf("a withdrawal was answered %d and noted as %+v", status, s)
	}
	if answers := hub.publish(topic, "x"); len(answers) != 1 || answers[s.Base+Path+s.Token] != http.StatusGone {
		t.Errorf("a hub that refused pushes nevertheless and is answered %v", answers)
	}
}

// TestAHubThatNeverConfirms has failed after an hour, and we say what may be wrong.
func TestAHubThatNeverConfirms(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	hub.mute = true
	w.want(feed, hub.URL, topic)
	w.wait(patience - time.Second)
	w.act()
	s := w.is(feed, Asked)
	if s.Live(w.time()) {
		t.Error("it counts though the hub never agreed")
	}
	if status := hub.push(s.Base+Path+s.Token, "x", "sha256="+sign(s.Secret, "x")); status != http.StatusGone {
		t.Errorf("a push that nobody agreed on was answered %d", status)
	}
	w.wait(time.Second)
	w.act()
	s = w.is(feed, Failed)
	if want := "the hub did not confirm the subscription within 1h0m0s: can it reach " + w.server.URL + "/websub/?"; s.Error != want {
		t.Errorf("got %q, want %q", s.Error, want)
	}
	hub.mute = false
	w.wait(backOff)
	w.act()
	hub.times("subscribe")
	w.is(feed, Verified)
}

// TestAHubMayConfirmFirst: it calls back before it answers, whatever it answers.
func TestAHubMayConfirmFirst(t *testing.T) {
	for _, answer := range []int{0, http.StatusNoContent, http.StatusInternalServerError, http.StatusBadRequest} {
		t.Run(fmt.Sprint(answer), func(t *testing.T) {
			w, hub := newWorld(t), newHub(t)
			hub.first, hub.answer = true, answer
			w.want(feed, hub.URL, topic)
			if s := w.is(feed, Verified); s.Failures != 0 {
				t.Errorf("%d failures", s.Failures)
			}
		})
	}
}

// TestAHubThatDoesNotLetGo is told three times; then the record goes, and its
// pushes find nobody.
func TestAHubThatDoesNotLetGo(t *testing.T) {
	w, hub := newWorld(t), newHub(t)
	w.want(feed, hub.URL, topic)
	hub.times("subscribe")
	s := w.is(feed, Verified)
	hub.mute = true
	w.want(feed, "", "")
	for range 10 {
		w.wait(patience)
		w.act()
	}
	if n := hub.times("unsubscribe"); n != maxPartings {
		t.Errorf("it was told %d times, want %d", n, maxPartings)
	}
	if left := w.stored(feed); left.Token != "" {
		t.Errorf("it is still there: %+v", left)
	}
	if answers := hub.publish(topic, "x"); answers[s.Base+Path+s.Token] != http.StatusGone {
		t.Errorf("its pushes are answered %v, want 410", answers)
	}
}

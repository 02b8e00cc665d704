package service

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)

func TestEventsBetween_ReturnsChanges(t *testing.T) {
	before := wire.Status{Agents: []subjects.Agent{{ID: "a", Host: "pi"}, {ID: "b", Host: "pi"}}, Feeds: wire.FeedCounts{Failing: 2}}
	after := wire.Status{Agents: []subjects.Agent{{ID: "b", Host: "pi"}, {ID: "c", Host: "nas"}}, Feeds: wire.FeedCounts{Failing: 5}}
	var got []string
	for _, h := range eventsBetween(&before, after, now) {
		got = append(got, h.Kind+": "+h.Text)
	}
	want := "[agent.joined: agent c on nas joined the mesh agent.left: agent a on pi left the mesh feeds.failing: 3 more feeds fail, 5 in all]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	after.Problems = []string{"agents: no answer"}
	if got := eventsBetween(&before, after, now); len(got) != 0 {
		t.Errorf("got %v of a mesh that does not answer, want nothing", got)
	}
}

func TestStreams_Limits(t *testing.T) {
	t.Parallel()
	s := newStreams()
	ctx, cancel := context.WithCancel(t.Context())
	for i := range MaxClientStreams {
		if _, err := s.add(ctx, "one"); err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
	}
	if _, err := s.add(ctx, "one"); !errors.Is(err, ErrTooManyStreams) {
		t.Errorf("one more of the same client: got %v, want %v", err, ErrTooManyStreams)
	}
	for i := s.count(); i < MaxStreams; i++ {
		if _, err := s.add(ctx, fmt.Sprint(i)); err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
	}
	if _, err := s.add(ctx, "another"); !errors.Is(err, ErrTooManyStreams) {
		t.Errorf("one more of all: got %v, want %v", err, ErrTooManyStreams)
	}
	cancel()
	for deadline := time.Now().Add(5 * time.Second); s.count() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d streams are open after their requests ended", s.count())
		}
	}
	if _, err := s.add(t.Context(), "one"); err != nil {
		t.Errorf("once all are closed: %v", err)
	}
}

// Each stream learns when events of the mesh reach it, and again after a gap.
func TestStreams_Subscribed(t *testing.T) {
	t.Parallel()
	s := newStreams()
	early, err := s.add(t.Context(), "early")
	if err != nil {
		t.Fatal(err)
	}
	if len(early) != 0 {
		t.Error("a stream is subscribed before the process is")
	}
	s.subscribe()
	late, err := s.add(t.Context(), "late")
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []<-chan wire.StreamEvent{early, late} {
		if e := <-stream; !e.Subscribed {
			t.Errorf("got %+v, want subscribed", e)
		}
	}
	s.unsubscribe()
	between, err := s.add(t.Context(), "between")
	if err != nil {
		t.Fatal(err)
	}
	s.subscribe()
	for _, stream := range []<-chan wire.StreamEvent{early, late, between} {
		if e := <-stream; !e.Subscribed || len(stream) != 0 {
			t.Errorf("got %+v and %d more, want subscribed once after the gap", e, len(stream))
		}
	}
}

func TestStreams_SlowReaderIsClosed(t *testing.T) {
	t.Parallel()
	s := newStreams()
	slow, err := s.add(t.Context(), "slow")
	if err != nil {
		t.Fatal(err)
	}
	quick, err := s.add(t.Context(), "quick")
	if err != nil {
		t.Fatal(err)
	}
	for range streamBuffer + 1 {
		s.publish(wire.StreamEvent{Event: &wire.MeshEvent{Kind: "x"}})
		<-quick
	}
	n := 0
	for range slow {
		n++
	}
	if n != streamBuffer || s.count() != 1 {
		t.Errorf("the slow one had %d and %d streams are left; want %d, then its end, and the quick one", n, s.count(), streamBuffer)
	}
}

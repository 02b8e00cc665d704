package mesh_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"feedmesh/subjects"
)

func TestSubscribeEvents_UntilContextEnds(t *testing.T) {
	m := newRig(t).join("a")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	want := subjects.Event{Kind: subjects.StoryGrew, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Text: "three publishers", StoryID: "s1"}
	go func() {
		for ctx.Err() == nil { // what is said before somebody listens is not heard
			if err := m.Publish(ctx, want.Message()); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	var got subjects.Event
	err := m.SubscribeEvents(ctx, func(e subjects.Event) {
		got = e
		cancel()
	})
	if !errors.Is(err, context.Canceled) || got != want {
		t.Errorf("got %+v, %v; want %+v, then the end", got, err, want)
	}
}

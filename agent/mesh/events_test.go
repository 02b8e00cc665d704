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
	subscribed := false
	want := subjects.Event{Kind: subjects.StoryGrew, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Text: "three publishers", StoryID: "s1"}
	var got subjects.Event
	err := m.SubscribeEvents(ctx, func() {
		subscribed = true
		if err := m.Publish(ctx, want.Message()); err != nil {
			t.Error(err)
		}
	}, func(e subjects.Event) {
		got = e
		cancel()
	})
	if !errors.Is(err, context.Canceled) || got != want || !subscribed {
		t.Errorf("got %+v, %v, subscribed: %t; want %+v, then the end", got, err, subscribed, want)
	}
}

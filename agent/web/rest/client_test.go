package rest

import (
	"context"
	"errors"
	"testing"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

func TestClient_ReceivesEvents(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	stop := w.runStreams(t)
	api, err := client.NewClient(w.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var heard []string
	err = watchEvents(ctx, w.URL, func(told wire.StreamEvent) {
		switch {
		case told.Status != nil && len(heard) == 0:
			heard = append(heard, "state")
			w.Mesh.Events <- subjects.Event{Kind: subjects.BurstStart, At: now, Text: "linux bursts"}
		case told.Event != nil:
			heard = append(heard, told.Event.Text)
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(heard) != 2 || heard[1] != "linux bursts" {
		t.Errorf("got %q, %v; want the status, then the burst", heard, err)
	}
	stop()
	if err := watchEvents(t.Context(), w.URL, func(wire.StreamEvent) {}); err == nil {
		t.Error("a node that ends has no stream, and the client heard of no error")
	}
	if got, err := client.Call(t.Context(), api, wire.GetStatistics, wire.StatisticsRequest{Days: 7, Zone: "Asia/Tokyo"}); err != nil || len(got.Days) != 7 || got.Zone != "Asia/Tokyo" {
		t.Errorf("got %+v, %v; want seven days of Tokyo", got, err)
	}
}

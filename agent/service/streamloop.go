package service

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

const (
	// statusInterval is the interval of status checks for streams.
	statusInterval = 2 * time.Second

	// listenRetryDelay is the delay before a failed subscription to the mesh is retried.
	listenRetryDelay = 5 * time.Second
)

// RunStreams publishes events to streams until ctx ends, and then closes the streams. Without streams it
// makes no requests.
func (s *Server) RunStreams(ctx context.Context) error {
	defer s.streams.end()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.streams.opened:
			s.publishToStreams(ctx)
		}
	}
}

// publishToStreams publishes events while streams are open.
func (s *Server) publishToStreams(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	listening.Go(func() { s.forwardEvents(ctx) })
	var previous *wire.Status
	for again := true; s.streams.count() > 0; {
		if status, err := s.Status(ctx); err == nil {
			for _, h := range eventsBetween(previous, status, s.Now()) {
				s.streams.publish(wire.StreamEvent{Event: &h})
			}
			if again || previous == nil || !reflect.DeepEqual(*previous, status) {
				s.streams.publish(wire.StreamEvent{Status: &status})
			}
			previous = &status
		}
		again = false
		select {
		case <-ctx.Done():
			return
		case <-s.streams.opened: // a new stream needs the full state
			again = true
		case <-time.After(statusInterval):
		}
	}
}

// forwardEvents forwards events of the mesh to the streams.
func (s *Server) forwardEvents(ctx context.Context) {
	for {
		err := s.Mesh.SubscribeEvents(ctx, func(e subjects.Event) {
			s.streams.publish(wire.StreamEvent{Event: &wire.MeshEvent{Kind: e.Kind, At: e.At, Text: describeEvent(e), ItemID: e.ItemID, StoryID: e.StoryID}})
		})
		if ctx.Err() != nil {
			return
		}
		s.Log.Warn("event subscription failed, will retry", "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(listenRetryDelay):
		}
	}
}

// describeEvent returns the text of an event.
func describeEvent(e subjects.Event) string {
	switch {
	case e.Text != "" && e.Title != "":
		return e.Text + ": " + e.Title
	case e.Text != "":
		return e.Text
	}
	return e.Title
}

// eventsBetween returns the changes between two states of the mesh; none if a part did not answer.
func eventsBetween(previous *wire.Status, now wire.Status, at time.Time) []wire.MeshEvent {
	if previous == nil || len(previous.Problems) > 0 || len(now.Problems) > 0 {
		return nil
	}
	var list []wire.MeshEvent
	for _, a := range agentsWithout(now.Agents, previous.Agents) {
		list = append(list, wire.MeshEvent{Kind: "agent.joined", At: at, Text: fmt.Sprintf("agent %s on %s joined the mesh", a.ID, a.Host)})
	}
	for _, a := range agentsWithout(previous.Agents, now.Agents) {
		list = append(list, wire.MeshEvent{Kind: "agent.left", At: at, Text: fmt.Sprintf("agent %s on %s left the mesh", a.ID, a.Host)})
	}
	if more := now.Feeds.Failing - previous.Feeds.Failing; more > 0 {
		list = append(list, wire.MeshEvent{Kind: "feeds.failing", At: at, Text: fmt.Sprintf("%d more feeds fail, %d in all", more, now.Feeds.Failing)})
	}
	return list
}

// agentsWithout returns the agents that are not among the others.
func agentsWithout(agents, others []subjects.Agent) (list []subjects.Agent) {
	excluded := map[string]bool{}
	for _, a := range others {
		excluded[a.ID] = true
	}
	for _, a := range agents {
		if !excluded[a.ID] {
			list = append(list, a)
		}
	}
	return list
}

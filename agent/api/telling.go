package api

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"feedmesh/subjects"
)

const (
	// tellEvery is how often streams are told how the mesh is.
	tellEvery = 2 * time.Second

	// listenAgain is how soon the mesh is listened to again that can't be heard.
	listenAgain = 5 * time.Second
)

// RunStreams tells streams what happens, until ctx ends; then it ends them, so that
// nobody waits for what has no end. While there is no stream it asks and hears
// nothing.
func (s *Server) RunStreams(ctx context.Context) error {
	defer s.streams.end()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.streams.wanted:
			s.tellStreams(ctx)
		}
	}
}

// tellStreams tells streams what happens while there are any.
func (s *Server) tellStreams(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	listening.Go(func() { s.listen(ctx) })
	var before *Status
	for again := true; s.streams.count() > 0; {
		if status, err := s.Status(ctx); err == nil {
			for _, h := range happenings(before, status, s.Now()) {
				s.streams.send(Told{Happening: &h})
			}
			if again || before == nil || !reflect.DeepEqual(*before, status) {
				s.streams.send(Told{State: &status})
			}
			before = &status
		}
		again = false
		select {
		case <-ctx.Done():
			return
		case <-s.streams.wanted: // a stream is new, and knows nothing
			again = true
		case <-time.After(tellEvery):
		}
	}
}

// listen tells streams what is heard in the mesh.
func (s *Server) listen(ctx context.Context) {
	for {
		err := s.Mesh.Listen(ctx, func(e subjects.Event) {
			s.streams.send(Told{Happening: &Happening{Kind: e.Kind, At: e.At, Text: eventWords(e), ItemID: e.ItemID, StoryID: e.StoryID}})
		})
		if ctx.Err() != nil {
			return
		}
		s.Log.Warn("what happens can't be heard; trying again", "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(listenAgain):
		}
	}
}

// eventWords says what happened.
func eventWords(e subjects.Event) string {
	switch {
	case e.Text != "" && e.Title != "":
		return e.Text + ": " + e.Title
	case e.Text != "":
		return e.Text
	}
	return e.Title
}

// happenings returns what happened between two looks at the mesh. A part that did
// not answer says nothing.
func happenings(before *Status, now Status, at time.Time) []Happening {
	if before == nil || len(before.Problems) > 0 || len(now.Problems) > 0 {
		return nil
	}
	var list []Happening
	for _, a := range lacking(now.Agents, before.Agents) {
		list = append(list, Happening{Kind: "agent.joined", At: at, Text: fmt.Sprintf("agent %s on %s joined the mesh", a.ID, a.Host)})
	}
	for _, a := range lacking(before.Agents, now.Agents) {
		list = append(list, Happening{Kind: "agent.left", At: at, Text: fmt.Sprintf("agent %s on %s left the mesh", a.ID, a.Host)})
	}
	if more := now.Feeds.Failing - before.Feeds.Failing; more > 0 {
		list = append(list, Happening{Kind: "feeds.failing", At: at, Text: fmt.Sprintf("%d more feeds fail, %d in all", more, now.Feeds.Failing)})
	}
	return list
}

// lacking returns the agents that are not among the others.
func lacking(agents, others []subjects.Agent) (list []subjects.Agent) {
	known := map[string]bool{}
	for _, a := range others {
		known[a.ID] = true
	}
	for _, a := range agents {
		if !known[a.ID] {
			list = append(list, a)
		}
	}
	return list
}

package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/subjects"
)

// PollHistory is how the last requests for a feed went, newest first.
type PollHistory struct {
	Polls []PollView `json:"polls" doc:"At most fifty; one stands for up to ten in a row that brought nothing new."`
}

// A PollView is one request for a feed.
type PollView struct {
	At     time.Time `json:"at"`
	Took   int64     `json:"took_ms"`
	Status int       `json:"status,omitempty" doc:"HTTP; absent without an answer."`
	Size   int64     `json:"size" doc:"Bytes of the document; 0 where there is none, as with 304."`
	Class  string    `json:"class,omitempty" doc:"Kind of the error; absent if it went well."`
	What   string    `json:"what" doc:"How it went, in words."`
	Proxy  string    `json:"proxy,omitempty" doc:"ID of the proxy it went by."`
	Before int       `json:"before,omitempty" doc:"Polls just before it that brought nothing new, and of which nothing else is kept."`
}

func (s *Server) pollRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/feeds/{id}/polls", "list-polls", "How the last requests for a feed went", 404, 503),
		func(ctx context.Context, in *byID) (*body[PollHistory], error) {
			if _, err := s.Store.Feed(ctx, in.ID); err != nil {
				return nil, s.problem(fmt.Errorf("feed %s: %w", in.ID, err))
			}
			polls, err := s.Mesh.Polls(ctx, in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			out := &body[PollHistory]{Body: PollHistory{Polls: make([]PollView, len(polls))}}
			for i, p := range polls {
				out.Body.Polls[i] = PollView{p.At, p.Took.Milliseconds(), p.Status, p.Size, p.Class, WhatPoll(p), p.Way, p.Before}
			}
			return out, nil
		})
}

// WhatPoll says in words how a request went, and those before it of which nothing
// else is kept.
func WhatPoll(p subjects.Poll) string {
	switch p.Before {
	case 0:
		return howPoll(p)
	case 1:
		return howPoll(p) + " The poll before it brought nothing new."
	}
	return fmt.Sprintf("%s The %d polls before it brought nothing new.", howPoll(p), p.Before)
}

func howPoll(p subjects.Poll) string {
	switch {
	case p.Class != "":
		return whatClass(p.Class, p.Status)
	case p.Status == http.StatusNotModified:
		return "Nothing new (HTTP 304)."
	case p.Status == 0:
		return "No answer."
	}
	return fmt.Sprintf("A document came (HTTP %d).", p.Status)
}

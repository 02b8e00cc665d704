package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/subjects"
)

// PollHistory is the history of a feed's polls, newest first.
type PollHistory struct {
	Polls []PollView `json:"polls" doc:"At most fifty; one entry stands for up to ten polls in a row without new items."`
}

// A PollView is one poll of a feed.
type PollView struct {
	At     time.Time `json:"at"`
	Took   int64     `json:"took_ms"`
	Status int       `json:"status,omitempty" doc:"HTTP; absent without an answer."`
	Size   int64     `json:"size" doc:"Bytes of the document; 0 where there is none, as with 304."`
	Class  string    `json:"class,omitempty" doc:"Class of the error; absent after success."`
	What   string    `json:"what" doc:"Description of the result."`
	Reason string    `json:"reason,omitempty" doc:"Why the feed was polled then; absent if an older agent recorded the poll."`
	Proxy  string    `json:"proxy,omitempty" doc:"ID of the proxy used."`
	Before int       `json:"before,omitempty" doc:"Number of polls just before it without new items, which are not stored separately."`
}

func (s *Server) pollRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/feeds/{id}/polls", "list-polls", "Poll history of a feed", 404, 503),
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
				out.Body.Polls[i] = PollView{p.At, p.Duration.Milliseconds(), p.Status, p.Size, p.Class, DescribePoll(p), p.Reason, p.ProxyID, p.UnchangedBefore}
			}
			return out, nil
		})
}

// DescribePoll describes a poll, and the polls before it of which only the number is stored.
func DescribePoll(p subjects.Poll) string {
	switch p.UnchangedBefore {
	case 0:
		return describeLastPoll(p)
	case 1:
		return describeLastPoll(p) + " The poll before it brought nothing new."
	}
	return fmt.Sprintf("%s The %d polls before it brought nothing new.", describeLastPoll(p), p.UnchangedBefore)
}

func describeLastPoll(p subjects.Poll) string {
	switch {
	case p.Class != "":
		return describeClass(p.Class, p.Status)
	case p.Status == http.StatusNotModified:
		return "Nothing new (HTTP 304)."
	case p.Status == 0:
		return "No answer."
	}
	return fmt.Sprintf("Document received (HTTP %d).", p.Status)
}

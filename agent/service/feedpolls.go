package service

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

func (s *Server) pollRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/feeds/{id}/polls", "list-polls", "Poll history of a feed", 404, 503),
		func(ctx context.Context, in *byID) (*body[wire.PollHistory], error) {
			if _, err := s.Store.Feed(ctx, in.ID); err != nil {
				return nil, s.problem(fmt.Errorf("feed %s: %w", in.ID, err))
			}
			polls, err := s.Mesh.Polls(ctx, in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			out := &body[wire.PollHistory]{Body: wire.PollHistory{Polls: make([]wire.PollView, len(polls))}}
			for i, p := range polls {
				out.Body.Polls[i] = wire.PollView{At: p.At, Took: p.Duration.Milliseconds(), Status: p.Status, Size: p.Size, Class: p.Class, What: DescribePoll(p), Reason: p.Reason, Proxy: p.ProxyID, Before: p.UnchangedBefore}
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

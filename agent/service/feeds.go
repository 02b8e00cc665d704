package service

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/nats-io/nuid"

	"feedmesh/agent/opml"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

type body[T any] struct{ Body T }

type byID struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *Server) feedRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/feeds", "list-feeds", "List feeds, optionally by state, tag, host or text", 400, 503), s.listFeeds)
	huma.Register(api, op("POST", "/api/feeds", "add-feeds", "Add feeds by their addresses", 400, 413, 422, 503), s.addFeeds)
	huma.Register(api, op("GET", "/api/feeds/{id}", "get-feed", "One feed", 404, 503), s.getFeed)
	remove := op("DELETE", "/api/feeds/{id}", "remove-feed", "Remove a feed and its items", 404, 503)
	remove.DefaultStatus = http.StatusNoContent
	huma.Register(api, remove, s.removeFeed)
	huma.Register(api, op("PATCH", "/api/feeds/{id}", "set-feed", "Change the settings of a feed", 400, 404, 422, 503), s.setFeed)
	huma.Register(api, op("GET", "/api/feeds/facets", "count-feeds", "Count feeds by state, tier, tag and class of error", 503),
		func(ctx context.Context, _ *struct{}) (*body[wire.FeedFacets], error) {
			facets, err := s.FeedFacets(ctx)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[wire.FeedFacets]{Body: facets}, nil
		})
	refresh := op("POST", "/api/feeds/{id}/refresh", "refresh-feed", "Poll a feed now, without conditional headers", 404, 503)
	refresh.DefaultStatus = http.StatusAccepted
	huma.Register(api, refresh, s.refreshFeed)
}

// feedOf returns a feed as clients see it.
func feedOf(f storage.Feed, state *subjects.State) wire.Feed {
	view := wire.Feed{Feed: f, Request: requestOf(f.Request)}
	view.Feed.Request = nil
	if state != nil {
		public := *state
		public.Request, public.Model = nil, nil
		view.State, view.Problem = &public, feedProblem(state)
	}
	return view
}

func (s *Server) listFeeds(ctx context.Context, in *wire.FeedSearch) (*body[wire.FeedPage], error) {
	page, err := s.FindFeeds(ctx, *in)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.FeedPage]{Body: page}, nil
}

func (s *Server) getFeed(ctx context.Context, in *byID) (*body[wire.Feed], error) {
	feed, err := s.Feed(ctx, in.ID)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.Feed]{Body: feed}, nil
}

// Feed returns one feed with its last polls, or [storage.ErrNotFound].
func (s *Server) Feed(ctx context.Context, id string) (wire.Feed, error) {
	stored, err := s.Store.Feed(ctx, id)
	if err != nil {
		return wire.Feed{}, fmt.Errorf("feed %s: %w", id, err)
	}
	state, err := s.Mesh.State(ctx, id)
	if err != nil {
		return wire.Feed{}, err
	}
	feed := feedOf(stored, state)
	feed.Polls, err = s.Mesh.Polls(ctx, id)
	return feed, err
}

func (s *Server) addFeeds(ctx context.Context, in *body[struct {
	URLs []string `json:"urls" minItems:"1" maxItems:"10000"`
	Tags []string `json:"tags,omitempty" maxItems:"32"`
}]) (*body[wire.ImportResults], error) {
	added, err := s.AddFeeds(ctx, in.Body.URLs, in.Body.Tags)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.ImportResults]{Body: added}, nil
}

// AddFeeds adds feeds by their addresses.
func (s *Server) AddFeeds(ctx context.Context, urls, tags []string) (wire.ImportResults, error) {
	feeds := make([]opml.Feed, len(urls))
	for i, url := range urls {
		feeds[i] = opml.Feed{URL: url, Tags: tags}
	}
	results, err := ImportFeeds(ctx, s.Store, s.Mesh, feeds, s.Now())
	if err != nil {
		return wire.ImportResults{}, err
	}
	all := wire.ImportResults{Results: results}
	for _, r := range results {
		switch r.Outcome {
		case Added:
			all.Added++
		case Existing:
			all.Existing++
		default:
			all.Invalid++
		}
	}
	return all, nil
}

func (s *Server) removeFeed(ctx context.Context, in *byID) (*struct{}, error) {
	if err := s.RemoveFeed(ctx, in.ID); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}

// RemoveFeed removes a feed and its items from the store, then publishes that to the schedule and the index,
// which would also detect it by themselves later. It returns [storage.ErrNotFound] if the feed does not
// exist.
func (s *Server) RemoveFeed(ctx context.Context, id string) error {
	items, err := s.Store.RemoveFeed(ctx, id)
	if err != nil {
		return fmt.Errorf("feed %s: %w", id, err)
	}
	if err := subjects.PublishIndex(ctx, s.Mesh, "feed "+id+" removed "+nuid.Next(), items); err != nil {
		return err
	}
	return publishObservations(ctx, s.Mesh, observation(id, "", subjects.Removed))
}

func (s *Server) refreshFeed(ctx context.Context, in *byID) (*struct{}, error) {
	if err := s.RefreshFeed(ctx, in.ID); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}

// RefreshFeed requests an immediate poll of a feed. It returns [storage.ErrNotFound] if the feed does not
// exist.
func (s *Server) RefreshFeed(ctx context.Context, id string) error {
	if _, err := s.Store.Feed(ctx, id); err != nil {
		return fmt.Errorf("feed %s: %w", id, err)
	}
	return publishObservations(ctx, s.Mesh, observation(id, "", subjects.Refresh))
}

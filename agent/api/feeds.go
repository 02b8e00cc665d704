package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/nats-io/nuid"

	"feedmesh/agent/opml"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Feed is a feed with what the schedule knows of it. Nothing in it is secret.
type Feed struct {
	storage.Feed
	Request *RequestView    `json:"request,omitempty" doc:"How it wants to be asked; absent: as all others."`
	State   *subjects.State `json:"state,omitempty" doc:"What the schedule knows of it; absent until it does."`
	Polls   []subjects.Poll `json:"polls,omitempty" doc:"Its last polls, newest first; absent in lists."`
	Trouble *Trouble        `json:"trouble,omitempty" doc:"What is wrong with it, if anything is."`
}

// A FeedPage is a page of feeds.
type FeedPage struct {
	Feeds []Feed `json:"feeds"`
	Next  string `json:"next,omitempty" doc:"What to give as after for the next page; absent on the last. A page may have few feeds, even none, and not be the last."`
	Total *int64 `json:"total,omitempty" doc:"How many feeds match; absent unless asked for."`
}

// Intakes says what became of the addresses of a list.
type Intakes struct {
	Added   int      `json:"added"`
	Known   int      `json:"known"`
	Invalid int      `json:"invalid"`
	Feeds   []Intake `json:"feeds" doc:"One for each address, in order."`
}

type body[T any] struct{ Body T }

type byID struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *Server) feedRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/feeds", "list-feeds", "Feeds, all or those of a kind", 400, 503), s.listFeeds)
	huma.Register(api, op("POST", "/api/feeds", "add-feeds", "Add feeds by their addresses", 400, 413, 422, 503), s.addFeeds)
	huma.Register(api, op("GET", "/api/feeds/{id}", "get-feed", "One feed", 404, 503), s.getFeed)
	remove := op("DELETE", "/api/feeds/{id}", "remove-feed", "Remove a feed and its items", 404, 503)
	remove.DefaultStatus = http.StatusNoContent
	huma.Register(api, remove, s.removeFeed)
	huma.Register(api, op("PATCH", "/api/feeds/{id}", "set-feed", "Change what a person decides of a feed", 400, 404, 422, 503), s.setFeed)
	huma.Register(api, op("GET", "/api/feeds/facets", "count-feeds", "How many feeds there are in each state, tier and tag, and with each kind of error", 503),
		func(ctx context.Context, _ *struct{}) (*body[FeedFacets], error) {
			facets, err := s.FeedFacets(ctx)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[FeedFacets]{Body: facets}, nil
		})
	refresh := op("POST", "/api/feeds/{id}/refresh", "refresh-feed", "Poll a feed now, and read its document whole", 404, 503)
	refresh.DefaultStatus = http.StatusAccepted
	huma.Register(api, refresh, s.refreshFeed)
}

// feedOf returns a feed as clients see it.
func feedOf(f storage.Feed, state *subjects.State) Feed {
	view := Feed{Feed: f, Request: requestOf(f.Request)}
	view.Feed.Request = nil
	if state != nil {
		told := *state
		told.Request, told.Model = nil, nil
		view.State, view.Trouble = &told, troubleOf(state)
	}
	return view
}

func (s *Server) listFeeds(ctx context.Context, in *FeedSearch) (*body[FeedPage], error) {
	page, err := s.FindFeeds(ctx, *in)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[FeedPage]{Body: page}, nil
}

func (s *Server) getFeed(ctx context.Context, in *byID) (*body[Feed], error) {
	feed, err := s.Feed(ctx, in.ID)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Feed]{Body: feed}, nil
}

// Feed returns one feed with its last polls, or [storage.ErrNotFound].
func (s *Server) Feed(ctx context.Context, id string) (Feed, error) {
	stored, err := s.Store.Feed(ctx, id)
	if err != nil {
		return Feed{}, fmt.Errorf("feed %s: %w", id, err)
	}
	state, err := s.Mesh.State(ctx, id)
	if err != nil {
		return Feed{}, err
	}
	feed := feedOf(stored, state)
	feed.Polls, err = s.Mesh.Polls(ctx, id)
	return feed, err
}

func (s *Server) addFeeds(ctx context.Context, in *body[struct {
	URLs []string `json:"urls" minItems:"1" maxItems:"10000"`
	Tags []string `json:"tags,omitempty" maxItems:"32"`
}]) (*body[Intakes], error) {
	added, err := s.AddFeeds(ctx, in.Body.URLs, in.Body.Tags)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Intakes]{Body: added}, nil
}

// AddFeeds adds feeds by their addresses.
func (s *Server) AddFeeds(ctx context.Context, urls, tags []string) (Intakes, error) {
	feeds := make([]opml.Feed, len(urls))
	for i, url := range urls {
		feeds[i] = opml.Feed{URL: url, Tags: tags}
	}
	results, err := TakeIn(ctx, s.Store, s.Mesh, feeds, s.Now())
	if err != nil {
		return Intakes{}, err
	}
	all := Intakes{Feeds: results}
	for _, r := range results {
		switch r.Outcome {
		case Added:
			all.Added++
		case Known:
			all.Known++
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

// RemoveFeed forgets a feed in the store first; the schedule and the index follow,
// and would also find out by themselves. It returns [storage.ErrNotFound] if there
// is no such feed.
func (s *Server) RemoveFeed(ctx context.Context, id string) error {
	items, err := s.Store.RemoveFeed(ctx, id)
	if err != nil {
		return fmt.Errorf("feed %s: %w", id, err)
	}
	if err := subjects.PublishIndex(ctx, s.Mesh, "feed "+id+" removed "+nuid.Next(), items); err != nil {
		return err
	}
	return tellSchedule(ctx, s.Mesh, observation(id, "", subjects.Removed))
}

func (s *Server) refreshFeed(ctx context.Context, in *byID) (*struct{}, error) {
	if err := s.RefreshFeed(ctx, in.ID); err != nil {
		return nil, s.problem(err)
	}
	return nil, nil
}

// RefreshFeed has a feed polled now. It returns [storage.ErrNotFound] if there is
// no such feed.
func (s *Server) RefreshFeed(ctx context.Context, id string) error {
	if _, err := s.Store.Feed(ctx, id); err != nil {
		return fmt.Errorf("feed %s: %w", id, err)
	}
	return tellSchedule(ctx, s.Mesh, observation(id, "", subjects.Refresh))
}

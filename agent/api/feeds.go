package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/nats-io/nuid"

	"feedmesh/agent/opml"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Feed is a stored feed with its state in the schedule. It contains no secrets.
type Feed struct {
	storage.Feed
	Request *RequestView    `json:"request,omitempty" doc:"Its request settings; absent: defaults."`
	State   *subjects.State `json:"state,omitempty" doc:"Its state in the schedule; absent until the first."`
	Polls   []subjects.Poll `json:"polls,omitempty" doc:"Its last polls, newest first; absent in lists."`
	Problem *FeedProblem    `json:"trouble,omitempty" doc:"Its current problem, if any."`
}

// A FeedPage is a page of feeds.
type FeedPage struct {
	Feeds []Feed `json:"feeds"`
	Next  string `json:"next,omitempty" doc:"Value of after for the next page; absent on the last. A page may be short or empty without being the last."`
	Total *int64 `json:"total,omitempty" doc:"Number of matching feeds; absent unless requested."`
}

// ImportResults are the results of adding several addresses.
type ImportResults struct {
	Added    int            `json:"added"`
	Existing int            `json:"known"`
	Invalid  int            `json:"invalid"`
	Results  []ImportResult `json:"feeds" doc:"One for each address, in order."`
}

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
		func(ctx context.Context, _ *struct{}) (*body[FeedFacets], error) {
			facets, err := s.FeedFacets(ctx)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[FeedFacets]{Body: facets}, nil
		})
	refresh := op("POST", "/api/feeds/{id}/refresh", "refresh-feed", "Poll a feed now, without conditional headers", 404, 503)
	refresh.DefaultStatus = http.StatusAccepted
	huma.Register(api, refresh, s.refreshFeed)
}

// feedOf returns a feed as clients see it.
func feedOf(f storage.Feed, state *subjects.State) Feed {
	view := Feed{Feed: f, Request: requestOf(f.Request)}
	view.Feed.Request = nil
	if state != nil {
		public := *state
		public.Request, public.Model = nil, nil
		view.State, view.Problem = &public, feedProblem(state)
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
}]) (*body[ImportResults], error) {
	added, err := s.AddFeeds(ctx, in.Body.URLs, in.Body.Tags)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[ImportResults]{Body: added}, nil
}

// AddFeeds adds feeds by their addresses.
func (s *Server) AddFeeds(ctx context.Context, urls, tags []string) (ImportResults, error) {
	feeds := make([]opml.Feed, len(urls))
	for i, url := range urls {
		feeds[i] = opml.Feed{URL: url, Tags: tags}
	}
	results, err := ImportFeeds(ctx, s.Store, s.Mesh, feeds, s.Now())
	if err != nil {
		return ImportResults{}, err
	}
	all := ImportResults{Results: results}
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

// NextPoll returns the next poll of the feed in words; at formats a time.
func (f Feed) NextPoll(now time.Time, at func(time.Time) string) string {
	switch s := f.State; {
	case s == nil:
		return "soon"
	case s.Crawl != "":
		return "under way"
	case s.Next.IsZero():
		return "never"
	case s.Next.Before(now):
		return "due"
	default:
		return at(s.Next)
	}
}

// LastPoll returns the result of the feed's last poll in words.
func (f Feed) LastPoll() string {
	switch s := f.State; {
	case s == nil || s.Polled.IsZero():
		return "none yet"
	case s.Failures > 0 && s.Class != "":
		return "failed: " + s.Class
	default:
		return string(s.Outcome)
	}
}

package service

import (
	"bytes"
	"context"
	"fmt"

	"github.com/nats-io/nuid"

	"feedmesh/agent/opml"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Feeds answers requests about feeds.
type Feeds struct{ *core }

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

// stored returns a stored feed, or [storage.ErrNotFound].
func (s *Feeds) stored(ctx context.Context, id string) (storage.Feed, error) {
	stored, err := s.Store.Feed(ctx, id)
	if err != nil {
		err = fmt.Errorf("feed %s: %w", id, err)
	}
	return stored, err
}

// Get returns one feed with its last polls, or [storage.ErrNotFound].
func (s *Feeds) Get(ctx context.Context, in wire.ByID) (wire.Feed, error) {
	stored, err := s.stored(ctx, in.ID)
	if err != nil {
		return wire.Feed{}, err
	}
	state, err := s.Mesh.State(ctx, in.ID)
	if err != nil {
		return wire.Feed{}, err
	}
	feed := feedOf(stored, state)
	feed.Polls, err = s.Mesh.Polls(ctx, in.ID)
	return feed, err
}

// Polls returns the poll history of a feed, or [storage.ErrNotFound].
func (s *Feeds) Polls(ctx context.Context, in wire.ByID) (wire.PollHistory, error) {
	if _, err := s.stored(ctx, in.ID); err != nil {
		return wire.PollHistory{}, err
	}
	polls, err := s.Mesh.Polls(ctx, in.ID)
	out := wire.PollHistory{Polls: make([]wire.PollView, len(polls))}
	for i, p := range polls {
		out.Polls[i] = wire.PollView{At: p.At, Took: p.Duration.Milliseconds(), Status: p.Status, Size: p.Size, Class: p.Class, What: DescribePoll(p), Reason: p.Reason, Proxy: p.ProxyID, Before: p.UnchangedBefore}
	}
	return out, err
}

// Add adds feeds by their addresses.
func (s *Feeds) Add(ctx context.Context, in wire.AddFeedsRequest) (wire.ImportResults, error) {
	feeds := make([]opml.Feed, len(in.Body.URLs))
	for i, url := range in.Body.URLs {
		feeds[i] = opml.Feed{URL: url, Tags: in.Body.Tags}
	}
	results, err := ImportFeeds(ctx, s.Store, s.Mesh, feeds, s.Now())
	if err != nil {
		return wire.ImportResults{}, err
	}
	all := wire.ImportResults{Results: results}
	for _, r := range results {
		switch r.Outcome {
		case wire.ImportAdded:
			all.Added++
		case wire.ImportExisting:
			all.Existing++
		default:
			all.Invalid++
		}
	}
	return all, nil
}

// Remove removes a feed and its items from the store, then publishes that to the schedule and the index, which
// would also detect it by themselves later. It returns [storage.ErrNotFound] if the feed does not exist.
func (s *Feeds) Remove(ctx context.Context, in wire.ByID) (wire.None, error) {
	items, err := s.Store.RemoveFeed(ctx, in.ID)
	if err != nil {
		return wire.None{}, fmt.Errorf("feed %s: %w", in.ID, err)
	}
	if err := subjects.PublishIndex(ctx, s.Mesh, "feed "+in.ID+" removed "+nuid.Next(), items); err != nil {
		return wire.None{}, err
	}
	return wire.None{}, publishObservations(ctx, s.Mesh, observation(in.ID, "", subjects.Removed))
}

// Refresh requests an immediate poll of a feed. It returns [storage.ErrNotFound] if the feed does not exist.
func (s *Feeds) Refresh(ctx context.Context, in wire.ByID) (wire.None, error) {
	if _, err := s.stored(ctx, in.ID); err != nil {
		return wire.None{}, err
	}
	return wire.None{}, publishObservations(ctx, s.Mesh, observation(in.ID, "", subjects.Refresh))
}

// Export returns all feeds as OPML.
func (s *Feeds) Export(ctx context.Context, _ wire.None) (wire.Document, error) {
	var feeds []opml.Feed
	err := storage.ForEachFeed(ctx, s.Store, func(f storage.Feed) error {
		feeds = append(feeds, opml.Feed{URL: f.URL, Title: f.Title, Site: f.Site, Tags: f.Tags})
		return nil
	})
	if err != nil {
		return wire.Document{}, err
	}
	var file bytes.Buffer
	err = opml.Write(&file, "feedmesh", feeds)
	return wire.Document{Type: wire.ExportFeeds.Type + "; charset=utf-8", Data: file.Bytes()}, err
}

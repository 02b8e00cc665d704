package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// The actions of bulk changes.
const (
	ActionPin     = "pin"
	ActionUnpin   = "unpin"
	ActionTag     = "tag"
	ActionUntag   = "untag"
	ActionRefresh = "refresh"
	ActionRemove  = "remove"
)

// Bounds of a step, which keep every request short.
const (
	bulkBatchSize  = 500 // feeds read and published together
	bulkTimeout    = 4 * time.Second
	maxBulkReasons = 20 // reasons returned
	maxBulks       = 2  // concurrent steps of a process
)

func (s *Server) bulkRoutes(api huma.API) {
	bulk := op("POST", "/api/feeds/bulk", "change-feeds", "Pin, tag, poll or remove many feeds", 400, 422, 429, 503)
	bulk.Description = "Works for some seconds and returns its progress: while next is set, repeat the request with it as after. Steps are idempotent."
	huma.Register(api, bulk, func(ctx context.Context, in *body[wire.BulkChange]) (*body[wire.BulkResult], error) {
		done, err := s.ChangeFeeds(ctx, in.Body)
		if err != nil {
			return nil, s.problem(err)
		}
		return &body[wire.BulkResult]{Body: done}, nil
	})
}

// ErrInvalidBulk reports an invalid [BulkChange].
var ErrInvalidBulk = errors.New("can't be done to many feeds")

// check validates the change and normalizes its tags.
func checkBulk(b *wire.BulkChange) error {
	wrong := func(why string) error { return fmt.Errorf("%w: %s", ErrInvalidBulk, why) }
	switch {
	case (len(b.IDs) == 0) == (b.Filter == nil):
		return wrong("name feeds by IDs or by a filter, one of them")
	case b.Filter != nil && *b.Filter == wire.FeedFilter{} && !b.All:
		return wrong("the filter narrows nothing: set all if all feeds are meant")
	case (b.Action == ActionTag || b.Action == ActionUntag) == (len(b.Tags) == 0):
		return wrong("tags are needed to tag and untag, and for nothing else")
	}
	for i, tag := range b.Tags {
		if b.Tags[i] = strings.Join(strings.Fields(tag), " "); b.Tags[i] == "" || len(b.Tags[i]) > maxTag {
			return wrong(fmt.Sprintf("%.50q is no tag: it must have 1 to %d bytes", tag, maxTag))
		}
	}
	return nil
}

// ChangeFeeds applies one step of a bulk change. It returns [ErrInvalidBulk] if the change is invalid and
// [ErrTooManyRequests] if too many steps run.
func (s *Server) ChangeFeeds(ctx context.Context, b wire.BulkChange) (wire.BulkResult, error) {
	if err := checkBulk(&b); err != nil {
		return wire.BulkResult{}, err
	}
	if b.DryRun {
		n, err := s.countSelected(ctx, b)
		return wire.BulkResult{Found: n}, err
	}
	select {
	case s.bulkSlots <- struct{}{}:
		defer func() { <-s.bulkSlots }()
	default:
		return wire.BulkResult{}, fmt.Errorf("%d bulk changes are running on this node, retry when one has finished: %w", maxBulks, ErrTooManyRequests)
	}
	var done wire.BulkResult
	for until := time.Now().Add(bulkTimeout); ; {
		feeds, next, err := s.selectBatch(ctx, b)
		if err != nil {
			return done, err
		}
		if err := s.changeBatch(ctx, b, feeds, &done); err != nil {
			return done, err
		}
		if b.After, done.Next = next, next; next == "" || time.Now().After(until) {
			return done, nil
		}
	}
}

// selectBatch returns the next batch of selected feeds, and the cursor of the batch after it.
func (s *Server) selectBatch(ctx context.Context, b wire.BulkChange) ([]storage.Feed, string, error) {
	if b.Filter != nil {
		return s.scanFeeds(ctx, wire.FeedSearch{FeedFilter: *b.Filter, Sort: "url", After: b.After, Limit: bulkBatchSize})
	}
	after, err := placeOf(storage.FeedsByURL, b.After)
	if err != nil {
		return nil, "", err
	}
	feeds, err := s.Store.FindFeeds(ctx, storage.FeedQuery{IDs: b.IDs, After: after, Limit: bulkBatchSize})
	if err != nil || len(feeds) < bulkBatchSize {
		return feeds, "", err
	}
	return feeds, feeds[len(feeds)-1].URL, nil
}

func (s *Server) countSelected(ctx context.Context, b wire.BulkChange) (int64, error) {
	if b.Filter != nil {
		return s.countFeeds(ctx, *b.Filter)
	}
	counts, err := s.Store.CountFeeds(ctx, storage.FeedQuery{IDs: b.IDs})
	return counts.Feeds, err
}

// changeBatch applies the action to a batch of feeds and publishes all changes to the schedule in one
// message. A feed that was removed meanwhile counts as failed.
func (s *Server) changeBatch(ctx context.Context, b wire.BulkChange, feeds []storage.Feed, done *wire.BulkResult) error {
	var news []subjects.Observation
	for _, f := range feeds {
		outcome, err := s.changeFeed(ctx, b, f)
		switch {
		case errors.Is(err, storage.ErrNotFound) || errors.Is(err, ErrInvalidBulk):
			if done.Failed++; len(done.Reasons) < maxBulkReasons {
				done.Reasons = append(done.Reasons, wire.FeedFailure{ID: f.ID, Why: err.Error()})
			}
			continue
		case err != nil:
			return err
		}
		done.Done++
		if outcome != "" {
			news = append(news, observation(f.ID, "", outcome))
		}
	}
	if len(news) == 0 {
		return nil
	}
	return publishObservations(ctx, s.Mesh, news...)
}

// changeFeed applies the action to a feed, and returns the outcome to publish to the schedule; "" for none.
func (s *Server) changeFeed(ctx context.Context, b wire.BulkChange, f storage.Feed) (subjects.Outcome, error) {
	settings := f.Settings()
	switch b.Action {
	case ActionRefresh:
		return subjects.Refresh, nil
	case ActionRemove:
		return "", s.RemoveFeed(ctx, f.ID)
	case ActionPin, ActionUnpin:
		settings.Pinned = b.Action == ActionPin
	case ActionTag:
		if settings = settings.WithTags(b.Tags, nil); len(settings.Tags) > MaxTags {
			return "", fmt.Errorf("%w: it would have more than %d tags", ErrInvalidBulk, MaxTags)
		}
	case ActionUntag:
		settings = settings.WithTags(nil, b.Tags)
	}
	if settings.Pinned == f.Pinned && slices.Equal(settings.Tags, f.Tags) {
		return "", nil
	}
	_, err := s.Store.SetFeed(ctx, f.ID, settings)
	return subjects.Changed, err
}

package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// What can be done to many feeds.
const (
	Pin     = "pin"
	Unpin   = "unpin"
	Tag     = "tag"
	Untag   = "untag"
	Refresh = "refresh"
	Remove  = "remove"
)

// A FeedBulk is something to be done to many feeds.
type FeedBulk struct {
	Do     string      `json:"do" enum:"pin,unpin,tag,untag,refresh,remove"`
	Tags   []string    `json:"tags,omitempty" maxItems:"32" doc:"To add or to take away."`
	IDs    []string    `json:"ids,omitempty" maxItems:"1000" doc:"Of the feeds."`
	Filter *FeedFilter `json:"filter,omitempty" doc:"Which feeds, in place of IDs. One that narrows nothing needs all."`
	All    bool        `json:"all,omitempty" doc:"That all feeds are really meant."`
	After  string      `json:"after,omitempty" maxLength:"2048" doc:"Next of the step before."`
	DryRun bool        `json:"dry_run,omitempty" doc:"Only count the feeds that are meant."`
}

// A FeedsDone says what became of a step.
type FeedsDone struct {
	Found   int64        `json:"found,omitempty" doc:"Feeds that are meant, of a dry run."`
	Done    int          `json:"done" doc:"Feeds of this step that are as they were to be."`
	Failed  int          `json:"failed" doc:"Feeds of this step that could not be changed."`
	Reasons []FeedFailed `json:"reasons,omitempty" doc:"Why, of the first of them."`
	Next    string       `json:"next,omitempty" doc:"What to give as after for the next step; absent when all is done."`
}

// A FeedFailed says why a feed could not be changed.
type FeedFailed struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Bounds of a step: so that no request lasts, whatever is meant.
const (
	bulkSize  = 500 // feeds read, and announced, at a time
	bulkTime  = 4 * time.Second
	bulkNamed = 20 // reasons told
	maxBulks  = 2  // steps at once in a process
)

func (s *Server) bulkRoutes(api huma.API) {
	bulk := op("POST", "/api/feeds/bulk", "change-feeds", "Pin, tag, poll or remove many feeds", 400, 422, 429, 503)
	bulk.Description = "Works for some seconds and answers how far it came: where next is set, send the same again with it as after. A step done twice is done once."
	huma.Register(api, bulk, func(ctx context.Context, in *body[FeedBulk]) (*body[FeedsDone], error) {
		done, err := s.ChangeFeeds(ctx, in.Body)
		if err != nil {
			return nil, s.problem(err)
		}
		return &body[FeedsDone]{Body: done}, nil
	})
}

// ErrWrongBulk says what is wrong with a [FeedBulk].
var ErrWrongBulk = errors.New("can't be done to many feeds")

// check says what is wrong with what is to be done.
func (b *FeedBulk) check() error {
	wrong := func(why string) error { return fmt.Errorf("%w: %s", ErrWrongBulk, why) }
	switch {
	case (len(b.IDs) == 0) == (b.Filter == nil):
		return wrong("name feeds by IDs or by a filter, one of them")
	case b.Filter != nil && *b.Filter == FeedFilter{} && !b.All:
		return wrong("the filter narrows nothing: set all if all feeds are meant")
	case (b.Do == Tag || b.Do == Untag) == (len(b.Tags) == 0):
		return wrong("tags are needed to tag and untag, and for nothing else")
	}
	for i, tag := range b.Tags {
		if b.Tags[i] = strings.Join(strings.Fields(tag), " "); b.Tags[i] == "" || len(b.Tags[i]) > maxTag {
			return wrong(fmt.Sprintf("%.50q is no tag: it must have 1 to %d bytes", tag, maxTag))
		}
	}
	return nil
}

// ChangeFeeds does a step of what is to be done to many feeds. It returns
// [ErrWrongBulk] if it makes no sense.
func (s *Server) ChangeFeeds(ctx context.Context, b FeedBulk) (FeedsDone, error) {
	if err := b.check(); err != nil {
		return FeedsDone{}, err
	}
	if b.DryRun {
		n, err := s.countMeant(ctx, b)
		return FeedsDone{Found: n}, err
	}
	select {
	case s.bulks <- struct{}{}:
		defer func() { <-s.bulks }()
	default:
		return FeedsDone{}, fmt.Errorf("%d changes of many feeds are under way here already, try again when one has ended: %w", maxBulks, ErrTooMuch)
	}
	var done FeedsDone
	for until := time.Now().Add(bulkTime); ; {
		feeds, next, err := s.meant(ctx, b)
		if err != nil {
			return done, err
		}
		if err := s.changeAll(ctx, b, feeds, &done); err != nil {
			return done, err
		}
		if b.After, done.Next = next, next; next == "" || time.Now().After(until) {
			return done, nil
		}
	}
}

// meant returns the next feeds that are meant, and the cursor of those that follow.
func (s *Server) meant(ctx context.Context, b FeedBulk) ([]storage.Feed, string, error) {
	if b.Filter != nil {
		return s.walkFeeds(ctx, FeedSearch{FeedFilter: *b.Filter, Sort: "url", After: b.After, Limit: bulkSize})
	}
	after, err := placeOf(storage.FeedsByURL, b.After)
	if err != nil {
		return nil, "", err
	}
	feeds, err := s.Store.FindFeeds(ctx, storage.FeedQuery{IDs: b.IDs, After: after, Limit: bulkSize})
	if err != nil || len(feeds) < bulkSize {
		return feeds, "", err
	}
	return feeds, feeds[len(feeds)-1].URL, nil
}

func (s *Server) countMeant(ctx context.Context, b FeedBulk) (int64, error) {
	if b.Filter != nil {
		return s.countFeeds(ctx, *b.Filter)
	}
	return s.Store.CountFeeds(ctx, storage.FeedQuery{IDs: b.IDs})
}

// changeAll does to each of some feeds what is to be done, and tells the schedule
// in one go. A feed that is gone by now counts as failed.
func (s *Server) changeAll(ctx context.Context, b FeedBulk, feeds []storage.Feed, done *FeedsDone) error {
	var news []subjects.Observation
	for _, f := range feeds {
		outcome, err := s.changeOne(ctx, b, f)
		switch {
		case errors.Is(err, storage.ErrNotFound) || errors.Is(err, ErrWrongBulk):
			if done.Failed++; len(done.Reasons) < bulkNamed {
				done.Reasons = append(done.Reasons, FeedFailed{f.ID, err.Error()})
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
	return tellSchedule(ctx, s.Mesh, news...)
}

// changeOne does to a feed what is to be done, and returns what the schedule must
// know of it; "" for nothing.
func (s *Server) changeOne(ctx context.Context, b FeedBulk, f storage.Feed) (subjects.Outcome, error) {
	settings := f.Settings()
	switch b.Do {
	case Refresh:
		return subjects.Refresh, nil
	case Remove:
		return "", s.RemoveFeed(ctx, f.ID)
	case Pin, Unpin:
		settings.Pinned = b.Do == Pin
	case Tag:
		if settings = settings.Retagged(b.Tags, nil); len(settings.Tags) > MaxTags {
			return "", fmt.Errorf("%w: it would have more than %d tags", ErrWrongBulk, MaxTags)
		}
	case Untag:
		settings = settings.Retagged(nil, b.Tags)
	}
	if settings.Pinned == f.Pinned && slices.Equal(settings.Tags, f.Tags) {
		return "", nil
	}
	_, err := s.Store.SetFeed(ctx, f.ID, settings)
	return subjects.Changed, err
}

package service

import (
	"context"
	"errors"
	"fmt"

	"feedmesh/agent/role/store/keep"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Retention answers requests about the purge of old items.
type Retention struct{ *core }

// maxTrialItems bounds the items that a trial counts.
const maxTrialItems = 200_000

// Get returns how long items are kept, and the next purge.
func (s *Retention) Get(ctx context.Context, _ wire.None) (wire.Retention, error) {
	state, err := keep.ReadState(ctx, s.Store)
	if err != nil {
		return wire.Retention{}, fmt.Errorf("read the state of retention: %w", err)
	}
	counts, err := s.Store.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil {
		return wire.Retention{}, err
	}
	r := wire.Retention{
		Keep: state.Policy.Default.String(), Items: counts.Items, Purged: counts.Purged,
		Begins: state.Begins, Reason: string(state.Reason), Ended: state.Ended, LastPurged: state.Purged,
	}
	for _, t := range state.Policy.Tags {
		r.Tags = append(r.Tags, t.String())
	}
	if state.Plan.Items > 0 {
		next, err := s.purgeOf(ctx, state.Plan)
		if err != nil {
			return wire.Retention{}, err
		}
		r.Next = &next
	}
	return r, nil
}

// Try counts what a limit would delete.
func (s *Retention) Try(ctx context.Context, in wire.PurgeTrial) (wire.Purge, error) {
	limit, err := storage.ParseKeep(in.Keep)
	if err != nil {
		return wire.Purge{}, &Error{KindInvalid, "the limit is wrong", []FieldError{fieldf("query.keep", "%v", err)}}
	}
	state, err := keep.ReadState(ctx, s.Store)
	if err != nil {
		return wire.Purge{}, fmt.Errorf("read the state of retention: %w", err)
	}
	policy := state.Policy
	policy.Floor = max(policy.Floor, storage.MinKeep) // without a state there is none
	var plan keep.Plan
	if in.Feed == "" {
		policy.Default = limit
		plan, err = keep.Count(ctx, s.Store, policy, s.Now(), maxTrialItems)
	} else {
		var f storage.Feed
		if f, err = s.Store.Feed(ctx, in.Feed); err != nil {
			return wire.Purge{}, fmt.Errorf("feed %s: %w", in.Feed, err)
		}
		f.Keep = limit.String()
		plan, err = keep.CountFeed(ctx, s.Store, policy, f, s.Now(), maxTrialItems)
	}
	if err != nil {
		return wire.Purge{}, fmt.Errorf("count expired items: %w", err)
	}
	return s.purgeOf(ctx, plan)
}

// purgeOf adds the titles of feeds to a plan.
func (s *Retention) purgeOf(ctx context.Context, p keep.Plan) (wire.Purge, error) {
	out := wire.Purge{Items: p.Items, Bytes: p.Bytes, Oldest: p.Oldest, Newest: p.Newest, More: p.More}
	for _, part := range p.Feeds {
		f, err := s.Store.Feed(ctx, part.FeedID)
		if errors.Is(err, storage.ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return wire.Purge{}, err
		}
		out.Feeds = append(out.Feeds, wire.PurgeFeed{FeedID: f.ID, Title: f.Name(), Items: part.Items, Bytes: part.Bytes})
	}
	return out, nil
}

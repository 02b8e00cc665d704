package keep

import (
	"cmp"
	"context"
	"slices"
	"time"

	"feedmesh/storage"
)

// A Plan is what a purge would delete.
type Plan struct {
	Items  int64      `json:"items"`
	Bytes  int64      `json:"bytes"` // of their texts
	Oldest time.Time  `json:"oldest,omitzero"`
	Newest time.Time  `json:"newest,omitzero"` // the last of them to arrive
	Feeds  []FeedPlan `json:"feeds,omitempty"` // most items first; at most [maxPlanFeeds]
	More   bool       `json:"more,omitempty"`  // counting ended before all items were counted
}

// A FeedPlan is the part of a [Plan] that belongs to one feed.
type FeedPlan struct {
	FeedID string `json:"feed_id"`
	Items  int64  `json:"items"`
	Bytes  int64  `json:"bytes"`
}

const (
	// maxPlanFeeds is the number of feeds in a [Plan].
	maxPlanFeeds = 100

	// pageItems is the number of expired items read in a batch, some 100 bytes each.
	pageItems = 2000
)

// Count returns what a purge at the given time would delete, of at most limit items. It reads only.
func Count(ctx context.Context, store storage.Store, p Policy, now time.Time, limit int64) (Plan, error) {
	all, _, err := p.expiries(ctx, store, now)
	if err != nil {
		return Plan{}, err
	}
	return count(ctx, store, all, limit, func(time.Duration) bool { return true })
}

// CountFeed is Count for one feed, which may have other settings than the stored one.
func CountFeed(ctx context.Context, store storage.Store, p Policy, f storage.Feed, now time.Time, limit int64) (Plan, error) {
	return count(ctx, store, p.ofFeed(f, now), limit, func(time.Duration) bool { return true })
}

// count is Count for these queries. It calls pause with the duration of each read, and ends if that returns false.
func count(ctx context.Context, store storage.Retention, all []expiry, limit int64, pause func(time.Duration) bool) (plan Plan, err error) {
	feeds := map[string]*FeedPlan{}
	for _, e := range all {
		for after := (storage.ExpiredItem{}); ; {
			began := time.Now()
			page, err := store.ExpiredItems(ctx, e.ExpiredQuery, after, pageItems)
			if err != nil {
				return Plan{}, err
			}
			for _, item := range page {
				if e.counted.IsZero() || !item.FirstSeen.Before(e.counted) {
					plan.add(item, feeds)
				}
			}
			if len(page) < pageItems {
				break
			}
			after = page[len(page)-1]
			if plan.Items >= limit {
				plan.More = true
				return plan.withFeeds(feeds), nil
			}
			if !pause(time.Since(began)) {
				return Plan{}, ctx.Err()
			}
		}
	}
	return plan.withFeeds(feeds), nil
}

func (p *Plan) add(item storage.ExpiredItem, feeds map[string]*FeedPlan) {
	p.Items++
	p.Bytes += item.Bytes
	if p.Oldest.IsZero() || item.FirstSeen.Before(p.Oldest) {
		p.Oldest = item.FirstSeen
	}
	if item.FirstSeen.After(p.Newest) {
		p.Newest = item.FirstSeen
	}
	of := feeds[item.FeedID]
	if of == nil {
		of = &FeedPlan{FeedID: item.FeedID}
		feeds[item.FeedID] = of
	}
	of.Items++
	of.Bytes += item.Bytes
}

// withFeeds returns the plan with the feeds that lose most items.
func (p Plan) withFeeds(feeds map[string]*FeedPlan) Plan {
	for _, f := range feeds {
		p.Feeds = append(p.Feeds, *f)
	}
	slices.SortFunc(p.Feeds, func(a, b FeedPlan) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.FeedID, b.FeedID))
	})
	p.Feeds = p.Feeds[:min(len(p.Feeds), maxPlanFeeds)]
	return p
}

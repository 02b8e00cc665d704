package interest

import (
	"context"
	"errors"
	"time"

	"feedmesh/classify/interest"
	"feedmesh/storage"
)

const (
	maxSilent  = 10                 // feeds that are returned
	maxChecked = 100                // feeds whose last item is read
	minLiked   = 1                  // opened items of a feed, weighted
	minSilence = 7 * 24 * time.Hour // so long any feed may publish nothing
	silentFor  = 5                  // usual intervals of items after which a feed is silent
)

// A SilentFeed is a feed that published nothing for unusually long.
type SilentFeed struct {
	ID, Title string
	Silent    time.Duration // since its newest item
	Usual     time.Duration // between two items before
}

// Silent returns the silent ones among the feeds whose items the client opens, those first that it opens most. There are
// none if it did not switch suggestions on.
func (i *Interests) Silent(ctx context.Context) ([]SilentFeed, error) {
	model, on, err := i.read(ctx)
	if err != nil || !on {
		return nil, err
	}
	feeds, err := i.lists.Feeds(ctx)
	if err != nil {
		return nil, err
	}
	ids := make(map[interest.Key]string, len(feeds))
	for id := range feeds {
		ids[interest.PublisherKey(id)] = id
	}
	var found []SilentFeed
	now, checked := i.now(), 0
	for _, f := range model.Features(now) {
		id := ids[f.Key]
		if id == "" || f.Liked < minLiked {
			continue
		}
		if checked++; checked > maxChecked || len(found) >= maxSilent {
			break
		}
		feed, err := i.store.Feed(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s, is := silenceOf(feed, now); is {
			found = append(found, s)
		}
	}
	return found, nil
}

// silenceOf returns the silence of a feed, and whether it is unusual.
func silenceOf(f storage.Feed, now time.Time) (SilentFeed, bool) {
	if f.Rate <= 0 || f.LastItem.IsZero() {
		return SilentFeed{}, false
	}
	usual := time.Duration(float64(24*time.Hour) / f.Rate)
	silent := now.Sub(f.LastItem)
	return SilentFeed{ID: f.ID, Title: f.Name(), Silent: silent, Usual: usual}, silent >= max(minSilence, silentFor*usual)
}

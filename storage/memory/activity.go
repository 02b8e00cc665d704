package memory

import (
	"context"
	"time"

	"feedmesh/storage"
)

// Activity implements [storage.Activities].
func (s *Store) Activity(ctx context.Context, since, until time.Time, zone *time.Location) (storage.Activity, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Activity{}, err
	}
	defer s.mu.Unlock()
	tally := storage.NewTally(zone)
	for _, i := range s.items {
		if i.FirstSeen.Before(since) || !i.FirstSeen.Before(until) {
			continue
		}
		tally.Add(storage.Arrival{
			FirstSeen: i.FirstSeen, Published: i.Published, Assumed: i.Assumed != "", Added: s.feeds[i.FeedID].Added,
			Spam: i.Spam, Language: i.Language, Sentiment: i.Sentiment, Categories: i.Categories,
		})
	}
	return tally.Activity(), nil
}

package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"feedmesh/storage"
)

// FindFeeds implements [storage.FeedFinder].
func (s *Store) FindFeeds(ctx context.Context, q storage.FeedQuery) ([]storage.Feed, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var found []storage.Feed
	for _, f := range s.feeds {
		if matchesFeed(q, f) && (q.After.ID == "" || q.Sort.Position(f).Compare(q.After) > 0) {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b storage.Feed) int { return q.Sort.Position(a).Compare(q.Sort.Position(b)) })
	found = first(found, q.Limit)
	for i := range found {
		found[i] = copyFeed(found[i])
	}
	return found, nil
}

// CountFeeds implements [storage.FeedFinder].
func (s *Store) CountFeeds(ctx context.Context, q storage.FeedQuery) (n int64, err error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	for _, f := range s.feeds {
		if matchesFeed(q, f) {
			n++
		}
	}
	return n, nil
}

func matchesFeed(q storage.FeedQuery, f storage.Feed) bool {
	return strings.Contains(storage.FeedSearchText(f.Title, f.URL, f.Site), storage.FoldFeedText(q.Text)) &&
		(q.Tag == "" || slices.Contains(f.Tags, q.Tag)) &&
		(q.Host == "" || storage.HostOf(f.URL) == q.Host) &&
		(!q.Pinned || f.Pinned) &&
		(q.IDs == nil || slices.Contains(q.IDs, f.ID))
}

// FeedTags implements [storage.FeedFinder].
func (s *Store) FeedTags(ctx context.Context, limit int) ([]storage.TagCount, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	counts := map[string]int64{}
	for _, f := range s.feeds {
		for _, tag := range f.Tags {
			counts[tag]++
		}
	}
	var tags []storage.TagCount
	for tag, n := range counts {
		tags = append(tags, storage.TagCount{Tag: tag, Feeds: n})
	}
	slices.SortFunc(tags, func(a, b storage.TagCount) int {
		return cmp.Or(cmp.Compare(b.Feeds, a.Feeds), cmp.Compare(a.Tag, b.Tag))
	})
	return first(tags, limit), nil
}

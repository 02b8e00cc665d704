package memory

import (
	"cmp"
	"context"
	"slices"

	"feedmesh/storage"
)

// ListSpam implements [storage.Spam].
func (s *Store) ListSpam(ctx context.Context, q storage.SpamQuery, after storage.SpamItem, limit int) ([]storage.SpamItem, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var page []storage.SpamItem
	for _, found := range s.spam(q) {
		if after.ID == "" || byJudged(found, after) > 0 {
			page = append(page, found)
		}
	}
	slices.SortFunc(page, byJudged)
	page = first(page, limit)
	for i := range page {
		page[i].Item = copyItem(page[i].Item)
	}
	return page, nil
}

func byJudged(a, b storage.SpamItem) int {
	return cmp.Or(b.Judged.Compare(a.Judged), cmp.Compare(a.ID, b.ID))
}

// CountSpam implements [storage.Spam].
func (s *Store) CountSpam(ctx context.Context, q storage.SpamQuery) (int64, error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	return int64(len(s.spam(q))), nil
}

// spam returns the matching items, unordered.
func (s *Store) spam(q storage.SpamQuery) []storage.SpamItem {
	var found []storage.SpamItem
	for id, judged := range s.judged {
		if item := s.items[id]; q.FeedID == "" || item.FeedID == q.FeedID {
			found = append(found, storage.SpamItem{Item: item, Judged: judged})
		}
	}
	return found
}

package members

import (
	"context"
	"slices"
	"time"

	"feedmesh/classify/unique"
	"feedmesh/classify/view"
	"feedmesh/classify/view/network"
	"feedmesh/storage"
)

// maxJoined is the number of the newest items of a story among which [Select] looks for one of a joined view.
const maxJoined = 100

// A Found item is one that [Query] found, with its text without markup.
type Found struct {
	storage.Item
	Text string
}

// Select returns the items that a view would have, in their order, of items that [Query] found, the newest first. others are the
// views that it reads, and those that they read: what they have is read from the store where it depends on other items. Once per
// duplicate and uniqueness compare the found items with each other.
func Select(ctx context.Context, store storage.Store, v storage.View, others []storage.View, found []Found, now time.Time) ([]Found, error) {
	views, err := compile(append(slices.Clone(others), v), now, nil)
	if err == nil {
		err = views.problems[v.Name]
	}
	if err != nil {
		return nil, err
	}
	items := make([]storage.Item, len(found))
	for i, item := range found {
		items[i] = item.Item
	}
	tags, err := tagsOf(ctx, store, items)
	if err != nil {
		return nil, err
	}
	s := selection{views: views, own: views.names[v.Name], now: now}
	if err := s.load(ctx, store, items); err != nil {
		return nil, err
	}
	own := &views.views[s.own]
	texts, originals := &unique.List{Percent: float64(own.Unique)}, map[string]bool{}
	var selected []Found
	for _, item := range slices.Backward(found) { // the oldest first, as they would have entered
		doc := &network.Document{Document: storage.IndexItem{Item: item.Item, Text: item.Text}.Document(), FeedTags: tags[item.FeedID], Now: now}
		is := s.isCandidate(item.ID, views.network.Match(doc)) && own.isInWindow(item.Time(), now) && s.isJoined(own, item.Item)
		if is && own.Once == view.PerDuplicate {
			is = !originals[originalOf(item.Item)]
			originals[originalOf(item.Item)] = true
		}
		if is && own.Unique > 0 {
			_, repeats := texts.Add(item.ID, item.Text, item.Language)
			is = !repeats
		}
		if is {
			selected = append(selected, item)
		}
	}
	slices.Reverse(selected)
	return selected, nil
}

// A selection decides which items one of the views would have, which is not stored.
type selection struct {
	views   *compiled
	own     int // index of the view
	now     time.Time
	members map[string][]storage.Member // cache of those present in stored views, by item ID
	stories map[string][]storage.Item   // cache of the newest items of stories, if the view has a join
}

// load fills the caches in one batch: with the members that are one of the items or, for a join, an item of their stories.
func (s *selection) load(ctx context.Context, store storage.Store, items []storage.Item) error {
	var ids, stories []string
	for _, item := range items {
		ids = append(ids, item.ID)
		if item.StoryID != "" {
			stories = append(stories, item.StoryID)
		}
	}
	s.stories = map[string][]storage.Item{}
	if s.views.views[s.own].Join != nil {
		read, err := store.ReadStories(ctx, maxJoined, stories...)
		if err != nil {
			return err
		}
		for id, story := range read {
			s.stories[id] = story.Items
			for _, item := range story.Items {
				ids = append(ids, item.ID)
			}
		}
	}
	members, err := store.MembersOfItems(ctx, ids...)
	if err != nil {
		return err
	}
	s.members = map[string][]storage.Member{}
	for _, m := range members {
		if v := s.views.byNumber(m.View); v != nil && !m.Absent && v.isInWindow(m.Published, s.now) {
			s.members[m.ItemID] = append(s.members[m.ItemID], m)
		}
	}
	return nil
}

// member returns the member of a view that is an item; false if it has none.
func (s *selection) member(v int, itemID string) (storage.Member, bool) {
	for _, m := range s.members[itemID] {
		if s.views.numbers[m.View] == v {
			return m, true
		}
	}
	return storage.Member{}, false
}

// isCandidate reports whether the conditions of the view hold for an item. If it reads the item only from views whose members depend
// on other items, one of these must have it.
func (s *selection) isCandidate(itemID string, candidates []network.Candidate) bool {
	at := slices.IndexFunc(candidates, func(c network.Candidate) bool { return c.View == s.own })
	if at < 0 {
		return false
	}
	through := candidates[at].Through
	return len(through) == 0 || slices.ContainsFunc(through, func(v int) bool { _, is := s.member(v, itemID); return is })
}

// isJoined reports whether the joined view has the item, or another one of its story.
func (s *selection) isJoined(v *definition, item storage.Item) bool {
	if v.Join == nil {
		return true
	}
	joined := s.views.names[v.Join.View]
	if _, is := s.member(joined, item.ID); is {
		return true
	}
	return slices.ContainsFunc(s.stories[item.StoryID], func(other storage.Item) bool {
		m, is := s.member(joined, other.ID)
		return is && (v.Join.Within == 0 || m.Published.Sub(item.Time()).Abs() <= time.Duration(v.Join.Within))
	})
}

package front

import (
	"context"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

const (
	// searchTimeout bounds the searches for a page: without results in time their sections are empty.
	searchTimeout = 500 * time.Millisecond

	searchAge = 7 * 24 * time.Hour // of items
)

// condition returns the condition that the items of a section meet.
func condition(f storage.Follow) query.Node {
	switch f.Kind {
	case storage.FollowPublisher:
		return query.FieldEquals{Field: query.Host, Value: f.Value}
	case storage.FollowFeed:
		return query.FieldEquals{Field: query.Feed, Value: f.Value}
	}
	return query.Text{In: query.Title, Form: query.Phrase, Words: f.Value}
}

// search takes the newest items of followed publishers, feeds and words, one of each story.
func (d *draft) search(ctx context.Context, follows []storage.Follow) error {
	if len(follows) == 0 || d.Index == nil {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	hits := make([][]string, len(follows))
	var ids []string
	for n, f := range follows {
		found, err := d.Index.Search(within, storage.Query{
			Where: query.And{condition(f), query.TimeRange{From: d.Now().Add(-searchAge)}}, OnePerStory: true, Newest: true, Limit: 3 * maxInSection,
		})
		if err != nil {
			d.Log.Warn("search for the front page failed", "err", err)
			d.noIndex = true
			break
		}
		if found.Fuzzy { // no item has the word
			continue
		}
		for _, h := range found.Hits {
			hits[n], ids = append(hits[n], h.ID), append(ids, h.ID)
		}
	}
	items, stories, err := d.readHits(ctx, ids)
	if err != nil {
		return err
	}
	for n, f := range follows {
		section := part{kind: f.Kind, value: f.Value}
		for _, id := range hits[n] {
			if len(section.entries) == maxInSection {
				break
			}
			if e, is := d.takeHit(items[id], stories); is {
				section.entries = append(section.entries, e)
			}
		}
		d.parts = append(d.parts, section)
	}
	return nil
}

// readHits returns items and the summaries of their stories, by ID.
func (d *draft) readHits(ctx context.Context, ids []string) (map[string]storage.Item, map[string]storage.Story, error) {
	found, err := d.Store.Items(ctx, ids...)
	if err != nil {
		return nil, nil, err
	}
	items := make(map[string]storage.Item, len(found))
	var storyIDs []string
	for _, i := range found {
		items[i.ID] = i
		if i.StoryID != "" {
			storyIDs = append(storyIDs, i.StoryID)
		}
	}
	stories, err := d.Store.StoriesByID(ctx, storyIDs...)
	return items, stories, err
}

// takeHit adds the story of an item to the page, or the item if no other publisher covers it.
func (d *draft) takeHit(i storage.Item, stories map[string]storage.Story) (entry, bool) {
	if i.ID == "" { // it was removed
		return entry{}, false
	}
	if s, summarized := stories[i.StoryID]; summarized && s.Sources >= 2 {
		if d.filter.HidesStory(s) {
			return entry{}, false
		}
		return d.take(s)
	}
	key := i.StoryID
	if key == "" {
		key = i.ID
	}
	if d.used[key] || d.filter.hidesItem(i) {
		return entry{}, false
	}
	d.used[key] = true
	return entry{item: &i}, true
}

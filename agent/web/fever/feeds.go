package fever

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"feedmesh/agent/web/greader"
	"feedmesh/storage"
)

// A group is a tag of feeds.
type group struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

// A groupFeeds lists the feeds of a group.
type groupFeeds struct {
	GroupID int64  `json:"group_id"`
	FeedIDs string `json:"feed_ids"`
}

type feed struct {
	ID          int64  `json:"id"`
	FaviconID   int64  `json:"favicon_id"` // always 0: none
	Title       string `json:"title"`
	URL         string `json:"url"`
	SiteURL     string `json:"site_url"`
	IsSpark     int    `json:"is_spark"`
	LastUpdated int64  `json:"last_updated_on_time"` // seconds since 1970; 0: it has no items
}

// addGroups adds all groups and the feeds of each.
func (s *server) addGroups(ctx context.Context, members map[string]any) error {
	feeds, err := s.feeds(ctx)
	if err != nil {
		return err
	}
	return s.addGroupsOf(ctx, feeds, members, true)
}

// addFeeds adds all feeds, and those of each group.
func (s *server) addFeeds(ctx context.Context, members map[string]any) error {
	feeds, err := s.feeds(ctx)
	if err != nil {
		return err
	}
	numbers, err := s.numbersOf(ctx, feeds)
	if err != nil {
		return err
	}
	all := make([]feed, len(feeds))
	for i, f := range feeds {
		all[i] = feed{ID: numbers[storage.FeedSerial(f.ID)], Title: greader.AsHTML(f.Name()), URL: f.URL, SiteURL: cmp.Or(storage.WebURL(f.Site), f.URL)}
		if !f.LastItem.IsZero() {
			all[i].LastUpdated = f.LastItem.Unix()
		}
	}
	members["feeds"] = all
	return s.addGroupsOf(ctx, feeds, members, false)
}

// feeds returns the fields of all feeds that answers contain.
func (s *server) feeds(ctx context.Context) (feeds []storage.Feed, err error) {
	err = storage.ForEachFeed(ctx, s.store, func(f storage.Feed) error {
		feeds = append(feeds, storage.Feed{ID: f.ID, URL: f.URL, Title: f.Title, Site: f.Site, Tags: f.Tags, LastItem: f.LastItem})
		return nil
	})
	return feeds, err
}

// numbersOf returns the numbers of feeds by their names in [storage.Serials].
func (s *server) numbersOf(ctx context.Context, feeds []storage.Feed) (map[string]int64, error) {
	names := make([]string, len(feeds))
	for i, f := range feeds {
		names[i] = storage.FeedSerial(f.ID)
	}
	return s.store.SerialsOf(ctx, names...)
}

// addGroupsOf adds the feeds of each group, and the groups themselves.
func (s *server) addGroupsOf(ctx context.Context, feeds []storage.Feed, members map[string]any, groups bool) error {
	byTag := map[string][]storage.Feed{}
	for _, f := range feeds {
		for _, tag := range f.Tags {
			byTag[tag] = append(byTag[tag], f)
		}
	}
	tags := slices.Sorted(maps.Keys(byTag))
	names := make([]string, len(tags))
	for i, tag := range tags {
		names[i] = storage.TagSerial(tag)
	}
	numbers, err := s.store.SerialsOf(ctx, names...)
	if err != nil {
		return err
	}
	ofFeeds, err := s.numbersOf(ctx, feeds)
	if err != nil {
		return err
	}
	all, relations := []group{}, []groupFeeds{}
	for i, tag := range tags {
		id := numbers[names[i]]
		ids := make([]int64, len(byTag[tag]))
		for n, f := range byTag[tag] {
			ids[n] = ofFeeds[storage.FeedSerial(f.ID)]
		}
		all, relations = append(all, group{id, greader.AsHTML(tag)}), append(relations, groupFeeds{id, joined(ids)})
	}
	if groups {
		members["groups"] = all
	}
	members["feeds_groups"] = relations
	return nil
}

// joined returns numbers separated by commas.
func joined(numbers []int64) string {
	var b strings.Builder
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
	return b.String()
}

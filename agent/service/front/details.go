package front

import (
	"context"
	"slices"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/service/imageproxy"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// detailsOf returns the details of stories, by ID. Stories whose items are gone are left out.
func (p *Pages) detailsOf(ctx context.Context, stories []storage.Story) (map[string]*detail, error) {
	all := map[string]*detail{}
	var missing []storage.Story
	var ids []string
	for _, s := range stories {
		if d := p.details.get(s); d != nil {
			all[s.ID] = d
		} else {
			missing, ids = append(missing, s), append(ids, s.ID)
		}
	}
	if len(missing) == 0 {
		return all, nil
	}
	found, err := p.Store.ReadStories(ctx, detailItems, ids...)
	if err != nil {
		return nil, err
	}
	old, err := p.oldHeadlines(ctx, missing, found)
	if err != nil {
		return nil, err
	}
	names := p.publisherNames(ctx)
	for _, s := range missing {
		stored, exists := found[s.ID]
		if !exists {
			continue
		}
		d := &detail{summarized: s.Summarized, last: s.LastSeen, count: s.Items}
		for _, i := range placement.CountedItems(stored.Items) {
			d.items = append(d.items, briefOf(i, names))
		}
		at := slices.IndexFunc(d.items, func(i itemBrief) bool { return i.ID == s.Headline })
		headline, exists := old[s.Headline]
		switch {
		case at >= 0:
			d.headline = d.items[at]
		case exists:
			d.headline = briefOf(headline, names)
		case len(d.items) > 0:
			d.headline = d.items[0]
		default:
			continue
		}
		p.details.put(s.ID, d)
		all[s.ID] = d
	}
	return all, nil
}

// oldHeadlines reads the headline items that are not among the newest items of their stories, by ID.
func (p *Pages) oldHeadlines(ctx context.Context, stories []storage.Story, newest map[string]storage.StoryItems) (map[string]storage.Item, error) {
	var ids []string
	for _, s := range stories {
		if !slices.ContainsFunc(newest[s.ID].Items, func(i storage.Item) bool { return i.ID == s.Headline }) {
			ids = append(ids, s.Headline)
		}
	}
	items, err := p.Store.Items(ctx, ids...)
	byID := make(map[string]storage.Item, len(items))
	for _, i := range items {
		byID[i.ID] = i
	}
	return byID, err
}

// publisherNames returns a function that names the publishers of items: by host, or by the title of the feed.
func (p *Pages) publisherNames(ctx context.Context) func(storage.Item) string {
	titles := map[string]string{}
	return func(i storage.Item) string {
		name := placement.Publisher(i)
		if name != i.FeedID {
			return name
		}
		title, known := titles[i.FeedID]
		if !known {
			if f, err := p.Store.Feed(ctx, i.FeedID); err == nil {
				title = f.Name()
			}
			titles[i.FeedID] = title
		}
		return title
	}
}

// maxLine bounds the line that a page shows of a text, in characters.
const maxLine = 200

func briefOf(i storage.Item, names func(storage.Item) string) itemBrief {
	b := itemBrief{
		ID: i.ID, Title: i.Title, URL: i.URL, FeedID: i.FeedID, EventID: i.EventID, Excerpt: text.Excerpt(i.Excerpt, maxLine),
		Publisher: names(i), Seen: i.FirstSeen, Time: i.Time(),
	}
	if len(i.Images) > 0 {
		b.Picture = imageproxy.Path(i.ID, i.Images[0], imageproxy.Small)
	}
	return b
}

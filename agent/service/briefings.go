package service

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"time"

	"feedmesh/agent/service/briefing"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	briefedStories = 12
	briefedItems   = 20
	briefedHours   = 24      // without hours in the request
	maxBriefed     = 24 * 14 // hours
)

// Briefings answers requests for briefings.
type Briefings struct {
	*core
	stories *Stories
	search  *Search
	views   *Views
}

// A BriefingSelection is what a briefing is about: the items of a view, or top stories, or, without stories of two publishers, the newest
// items.
type BriefingSelection struct {
	Hours   int // that it is from; 0: a view
	Stories []wire.StoryBrief
	Items   []wire.FoundItem
}

// languageName matches names and codes of languages: the language becomes part of an instruction to a model.
var languageName = regexp.MustCompile(`^[\p{L} -]{0,32}$`)

// Select returns what a briefing is about. A request that is not allowed is an error of [KindInvalid].
func (b *Briefings) Select(ctx context.Context, in wire.BriefingRequest) (s BriefingSelection, err error) {
	var wrong []FieldError
	if !languageName.MatchString(in.Language) {
		wrong = append(wrong, fieldf("query.language", "the language must be a name or a code of letters, such as English or ru"))
	}
	if in.Hours < 0 || in.Hours > maxBriefed {
		wrong = append(wrong, fieldf("query.hours", "hours must be a number from 1 to %d", maxBriefed))
	}
	if in.View != "" && in.Hours != 0 {
		wrong = append(wrong, fieldf("query.hours", "give either view or hours: a view has a window of its own"))
	}
	if len(wrong) > 0 {
		return s, &Error{KindInvalid, "there is no such briefing", wrong}
	}
	if in.View != "" {
		found, err := b.views.Items(ctx, wire.ListViewItemsRequest{Name: in.View, Limit: briefedItems})
		return BriefingSelection{Items: found.Items}, err
	}
	s.Hours = cmp.Or(in.Hours, briefedHours)
	after := b.Now().Add(-time.Duration(s.Hours) * time.Hour)
	page, err := b.stories.List(ctx, wire.StorySearch{After: after, Sources: 2, Sort: "rank", Limit: briefedStories})
	if s.Stories = page.Stories; err != nil || len(s.Stories) > 0 {
		return s, err
	}
	found, err := b.search.Find(ctx, wire.Search{After: after, Sort: "newest", Once: true, Limit: briefedItems})
	s.Items = found.Items
	return s, err
}

// Get returns a briefing. It requests the endpoint unless the answer is cached.
func (b *Briefings) Get(ctx context.Context, in wire.BriefingRequest) (wire.Briefing, error) {
	r, err := b.request(ctx, in)
	if err != nil {
		return wire.Briefing{}, err
	}
	return b.writer.Write(ctx, r), nil
}

// Cached returns a briefing without a request to the endpoint: a text that may be about older items, or sentences of the items.
func (b *Briefings) Cached(ctx context.Context, in wire.BriefingRequest) (wire.Briefing, error) {
	r, err := b.request(ctx, in)
	if err != nil {
		return wire.Briefing{}, err
	}
	return b.writer.Cached(r), nil
}

// IsOn reports whether there is an endpoint.
func (b *Briefings) IsOn() bool { return b.writer.IsOn() }

// request returns the request of a briefing.
func (b *Briefings) request(ctx context.Context, in wire.BriefingRequest) (briefing.Request, error) {
	selected, err := b.Select(ctx, in)
	if err != nil {
		return briefing.Request{}, err
	}
	// A view is named by its number and its last change: it may select other items later, and another one may have its name.
	r := briefing.Request{Subject: fmt.Sprint("stories ", selected.Hours), Language: in.Language}
	if in.View != "" {
		v, err := b.views.read(ctx, in.View)
		if err != nil {
			return r, err
		}
		r.Subject = fmt.Sprint("view ", v.stored.Number, v.stored.Changed)
	}
	titles := b.titles(ctx)
	for _, i := range selected.Items {
		s := briefing.Source{ItemBrief: briefOf(i.Item, titles), Text: i.Excerpt}
		if i.Coverage != nil {
			s.Publishers = i.Coverage.Sources
		}
		r.Sources = append(r.Sources, s)
	}
	sources, err := b.quoted(ctx, selected.Stories, titles)
	r.Sources = append(r.Sources, sources...)
	return r, err
}

// quoted returns the items that the summaries of stories quote, with the sentences; of a story without a summary its headline's item.
// Items that were removed are skipped.
func (b *Briefings) quoted(ctx context.Context, stories []wire.StoryBrief, titles func(string) string) ([]briefing.Source, error) {
	var sources []briefing.Source
	at := map[string]int{} // position by item ID
	add := func(id, text string, story wire.StoryBrief) {
		n, is := at[id]
		if !is {
			n, at[id] = len(sources), len(sources)
			sources = append(sources, briefing.Source{ItemBrief: wire.ItemBrief{ID: id}, Publishers: story.Sources})
		}
		if sources[n].Text != "" {
			text = " " + text
		}
		sources[n].Text += text
	}
	for _, story := range stories {
		for _, line := range story.Summary {
			add(line.ItemID, line.Text, story)
		}
		if len(story.Summary) == 0 {
			add(story.Headline, "", story)
		}
	}
	items, err := b.Store.Items(ctx, convert(sources, func(s briefing.Source) string { return s.ID })...)
	if err != nil {
		return nil, err
	}
	stored := map[string]storage.Item{}
	for _, i := range items {
		stored[i.ID] = i
	}
	var kept []briefing.Source
	for _, s := range sources {
		if item, is := stored[s.ID]; is {
			s.ItemBrief, s.Text = briefOf(item, titles), cmp.Or(s.Text, item.Excerpt)
			kept = append(kept, s)
		}
	}
	return kept, nil
}

package front

import (
	"cmp"
	"context"
	"slices"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/query"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

const (
	poolPages = 2 // reads of stories, of [storage.MaxLimit] each
	dayPages  = 3

	newsAge   = 48 * time.Hour     // of the last item of a story
	sectionOf = 24 * time.Hour     // stories that are counted to choose the sections
	storyEnds = 7 * 24 * time.Hour // without items, a followed story has ended

	maxLead      = 7
	maxInSection = 5
	maxSections  = 6  // that are chosen for a client that follows none
	maxFollowed  = 20 // sections, and stories, that a client follows

	maxShownPublishers = 4
	maxEvents          = 3

	// Days is the number of days with pages, today included.
	Days = 8
)

// A Page is a front page. A story is on it once.
type Page struct {
	Followed []Card // followed stories that have not ended, those with the newest items first
	Lead     []Card // of highest rank
	Sections []Section
	Since    time.Time // end of the client's last visit; zero: none, or a page of an earlier day
	Hidden   int       // stories that were left out because the client mutes them
	NoIndex  bool      // sections of publishers, feeds and words are missing: the index does not answer
}

// A Section has the stories of something.
type Section struct {
	Kind   string // as that of a [storage.Follow]
	Value  string
	Title  string
	Chosen bool // the client follows no category and no topic; otherwise it follows this
	Cards  []Card
}

// A Card is a story, or an item that is in no story of several publishers.
type Card struct {
	StoryID    string // empty: an item
	ItemID     string // whose title it has
	Title      string
	Partition  string
	Line       string // a sentence
	Picture    string // path; empty: none
	Publishers []string
	More       int    // publishers that are not listed
	Host       string // of the item, without "www."; empty: none
	FeedID     string
	Items      int
	Last       time.Time
	New        int  // items since the last visit
	NewMore    bool // there may be more
	Burst      bool
	Link       *wire.StoryLink // story in another language; nil: none
	Events     []Event         // newest events of a followed story
}

// An Event is an event of a followed story.
type Event struct {
	Title string
	At    time.Time
	New   bool // began after the last visit
}

// Today returns the front page of the client and records the visit.
func (p *Pages) Today(ctx context.Context) (Page, error) {
	since, err := p.visit(ctx)
	if err != nil {
		return Page{}, err
	}
	follows, err := p.Follows(ctx)
	if err != nil {
		return Page{}, err
	}
	pool, err := p.list(ctx, storage.StoryQuery{Sources: 2}, poolPages)
	if err != nil {
		return Page{}, err
	}
	now := p.Now()
	pool = slices.DeleteFunc(pool, func(s storage.Story) bool { return now.Sub(s.LastSeen) > newsAge })
	d := p.draft(follows, pool, since)
	if err := d.followed(ctx); err != nil {
		return Page{}, err
	}
	d.lead()
	if err := d.sections(ctx); err != nil {
		return Page{}, err
	}
	return d.page(ctx)
}

// Day returns a page of the stories whose last item is of a day, which begins at the time: those that most publishers
// covered first.
func (p *Pages) Day(ctx context.Context, begin time.Time) (Page, error) {
	follows, err := p.Follows(ctx)
	if err != nil {
		return Page{}, err
	}
	end := storage.StoryPosition{Newest: true, LastSeen: begin.AddDate(0, 0, 1), ID: "~"} // after all IDs
	pool, err := p.list(ctx, storage.StoryQuery{Sources: 2, After: begin, Newest: true, Cursor: end.Cursor()}, dayPages)
	if err != nil {
		return Page{}, err
	}
	slices.SortStableFunc(pool, func(a, b storage.Story) int {
		return cmp.Or(cmp.Compare(b.Sources, a.Sources), cmp.Compare(b.Items, a.Items))
	})
	d := p.draft(follows, pool, time.Time{})
	d.lead()
	d.chosenSections()
	return d.page(ctx)
}

// list returns the stories of some pages of a list.
func (p *Pages) list(ctx context.Context, q storage.StoryQuery, pages int) (all []storage.Story, err error) {
	q.Limit = storage.MaxLimit
	for range pages {
		some, next, err := p.Store.ListStories(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if next == "" {
			break
		}
		q.Cursor = next
	}
	return all, nil
}

// A draft is a page in the making: which stories it has, in which part.
type draft struct {
	*Pages
	follows []storage.Follow
	filter  Filter
	pool    []storage.Story // without those that are hidden
	since   time.Time
	hidden  int
	noIndex bool

	used    map[string]bool // IDs of stories and of items without one
	you     []entry
	top     []entry
	parts   []part
	stories []storage.Story // of all parts
}

// An entry is a story, or an item without one.
type entry struct {
	story storage.Story
	item  *storage.Item
}

type part struct {
	kind, value string
	chosen      bool // for a client that follows no category and no topic
	entries     []entry
}

func (p *Pages) draft(follows []storage.Follow, pool []storage.Story, since time.Time) *draft {
	d := &draft{Pages: p, follows: follows, filter: filterOf(follows), since: since, used: map[string]bool{}}
	for _, s := range pool {
		if d.filter.HidesStory(s) {
			d.hidden++
		} else {
			d.pool = append(d.pool, s)
		}
	}
	return d
}

// take adds a story to the page, unless it is on it.
func (d *draft) take(s storage.Story) (entry, bool) {
	if d.used[s.ID] {
		return entry{}, false
	}
	d.used[s.ID] = true
	d.stories = append(d.stories, s)
	return entry{story: s}, true
}

// following returns the values of a kind that the client follows.
func (d *draft) following(kinds ...string) (list []storage.Follow) {
	for _, f := range d.follows {
		if !f.Mute && slices.Contains(kinds, f.Kind) {
			list = append(list, f)
		}
	}
	return list
}

// followed takes the followed stories that have not ended.
func (d *draft) followed(ctx context.Context) error {
	var ids []string
	for _, f := range d.following(storage.FollowStory) {
		ids = append(ids, f.Value)
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := d.Store.StoriesByID(ctx, ids...)
	if err != nil {
		return err
	}
	var stories []storage.Story
	for _, s := range found {
		if d.Now().Sub(s.LastSeen) < storyEnds {
			stories = append(stories, s)
		}
	}
	slices.SortFunc(stories, func(a, b storage.Story) int { return cmp.Or(b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.ID, b.ID)) })
	for _, s := range stories[:min(len(stories), maxFollowed)] {
		if e, is := d.take(s); is {
			d.you = append(d.you, e)
		}
	}
	return nil
}

// lead takes the first stories of the pool.
func (d *draft) lead() {
	for _, s := range d.pool {
		if len(d.top) == maxLead {
			return
		}
		if e, is := d.take(s); is {
			d.top = append(d.top, e)
		}
	}
}

// sections takes the stories of what the client follows, or of the categories with most stories.
func (d *draft) sections(ctx context.Context) error {
	named := d.following(storage.FollowCategory, storage.FollowTopic)
	found := d.following(storage.FollowPublisher, storage.FollowFeed, storage.FollowWord)
	named = named[:min(len(named), maxFollowed)]
	found = found[:min(len(found), maxFollowed-len(named))]
	if err := d.search(ctx, found); err != nil {
		return err
	}
	for _, f := range named {
		if err := d.namedSection(ctx, f.Kind, f.Value); err != nil {
			return err
		}
	}
	if len(named) == 0 {
		d.chosenSections()
	}
	return nil
}

// has reports whether a story has a category or a topic.
func has(s storage.Story, kind, value string) bool {
	names := s.Categories
	if kind == storage.FollowTopic {
		names = s.Topics
	}
	return slices.Contains(names, value)
}

// pooled takes stories of a category or topic from a list.
func (d *draft) pooled(part *part, from []storage.Story) {
	for _, s := range from {
		if len(part.entries) == maxInSection {
			return
		}
		if !has(s, part.kind, part.value) {
			continue
		}
		if e, is := d.take(s); is {
			part.entries = append(part.entries, e)
		}
	}
}

// namedSection takes the stories of a followed category or topic. If the pool has too few, more are read.
func (d *draft) namedSection(ctx context.Context, kind, value string) error {
	section := part{kind: kind, value: value}
	d.pooled(&section, d.pool)
	if len(section.entries) < maxInSection {
		q := storage.StoryQuery{Sources: 2, After: d.Now().Add(-newsAge), Limit: 4 * maxInSection}
		if kind == storage.FollowTopic {
			q.Topic = value
		} else {
			q.Category = value
		}
		more, _, err := d.Store.ListStories(ctx, q)
		if err != nil {
			return err
		}
		d.pooled(&section, slices.DeleteFunc(more, d.filter.HidesStory))
	}
	d.parts = append(d.parts, section)
	return nil
}

// chosenSections takes the stories of the categories with most stories of the pool's last day.
func (d *draft) chosenSections() {
	var last time.Time
	for _, s := range d.pool {
		if s.LastSeen.After(last) {
			last = s.LastSeen
		}
	}
	counts := map[string]int{}
	for _, s := range d.pool {
		if last.Sub(s.LastSeen) <= sectionOf {
			for _, name := range s.Categories {
				counts[name]++
			}
		}
	}
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	most := len(d.parts) + maxSections
	for _, name := range names {
		section := part{kind: storage.FollowCategory, value: name, chosen: true}
		d.pooled(&section, d.pool)
		if len(section.entries) == 0 {
			continue
		}
		if d.parts = append(d.parts, section); len(d.parts) >= most {
			return
		}
	}
}

// page returns the page with the details of its stories.
func (d *draft) page(ctx context.Context) (Page, error) {
	details, err := d.detailsOf(ctx, d.stories)
	if err != nil {
		return Page{}, err
	}
	links := d.links.of(d.stories, details)
	names := d.publisherNames(ctx)
	cards := func(entries []entry, withEvents bool) (list []Card) {
		for _, e := range entries {
			card, shown := d.card(e, details[e.story.ID], names)
			switch {
			case !shown:
				continue
			case withEvents:
				card.Events = eventsOf(details[e.story.ID].items, d.since)
			}
			card.Link = links[e.story.ID]
			list = append(list, card)
		}
		return list
	}
	page := Page{Followed: cards(d.you, true), Lead: cards(d.top, false), Since: d.since, NoIndex: d.noIndex}
	for _, s := range d.parts {
		section := Section{Kind: s.kind, Value: s.value, Title: d.titleOf(ctx, s.kind, s.value), Chosen: s.chosen, Cards: cards(s.entries, false)}
		if len(section.Cards) > 0 || !s.chosen {
			page.Sections = append(page.Sections, section)
		}
	}
	page.Hidden = d.hidden
	return page, nil
}

// titleOf returns how a section is named.
func (p *Pages) titleOf(ctx context.Context, kind, value string) string {
	if kind == storage.FollowFeed {
		if f, err := p.Store.Feed(ctx, value); err == nil {
			return f.Name()
		}
	}
	return value
}

// card returns the card of an entry, false if the client mutes all of its publishers.
func (d *draft) card(e entry, of *detail, names func(storage.Item) string) (Card, bool) {
	if e.item != nil {
		b := briefOf(*e.item, names)
		return Card{
			ItemID: b.ID, Title: b.Title, Partition: e.item.Partition, Line: b.Excerpt, Picture: b.Picture, Publishers: []string{b.Publisher},
			Host: hostOf(b.URL), FeedID: b.FeedID, Items: 1, Last: b.Time, New: d.isNew(b),
		}, true
	}
	if of == nil {
		return Card{}, false
	}
	shown, muted := append([]itemBrief{of.headline}, of.items...), map[string]bool{}
	shown = slices.DeleteFunc(shown, func(i itemBrief) bool {
		hides := d.filter.HidesPublisher(i.URL, i.FeedID)
		if hides {
			muted[i.Publisher] = true
		}
		return hides
	})
	if len(shown) == 0 {
		d.hidden++
		return Card{}, false
	}
	s, first := e.story, shown[0]
	card := Card{
		StoryID: s.ID, ItemID: first.ID, Title: cmp.Or(first.Title, s.Title), Partition: s.Partition, Host: hostOf(first.URL), FeedID: first.FeedID,
		Items: s.Items, Last: s.LastSeen, Burst: s.Burst, Line: lineOf(s, first, of, shown),
	}
	if first.ID == s.Headline {
		card.Title = s.Title
	}
	var all []string
	for _, i := range shown {
		if card.Picture == "" {
			card.Picture = i.Picture
		}
		if !slices.Contains(all, i.Publisher) {
			all = append(all, i.Publisher)
		}
	}
	card.Publishers = all[:min(len(all), maxShownPublishers)]
	card.More = max(s.Sources-len(muted), len(all)) - len(card.Publishers)
	for _, i := range of.items {
		card.New += d.isNew(i)
	}
	card.NewMore = card.New == len(of.items) && s.Items > card.New && card.New > 0
	return card, true
}

// hostOf returns the value of [storage.FollowPublisher] for an address, empty if it has no host.
func hostOf(address string) string {
	if hosts := query.Hosts(address); len(hosts) > 0 {
		return hosts[0]
	}
	return ""
}

// isNew returns 1 if an item was first seen after the last visit, else 0.
func (d *draft) isNew(i itemBrief) int {
	if !d.since.IsZero() && i.Seen.After(d.since) {
		return 1
	}
	return 0
}

// lineOf returns the first sentence of the summary whose item is shown, else the beginning of the first item.
func lineOf(s storage.Story, first itemBrief, of *detail, shown []itemBrief) string {
	for _, line := range s.Summary {
		is := func(i itemBrief) bool { return i.ID == line.ItemID }
		read := of.headline.ID == line.ItemID || slices.ContainsFunc(of.items, is)
		if line.Text != s.Title && (!read || slices.ContainsFunc(shown, is)) {
			return text.Excerpt(line.Text, maxLine)
		}
	}
	return first.Excerpt
}

// eventsOf returns the newest events of items, which come newest first. An event has the title of its first item.
func eventsOf(items []itemBrief, since time.Time) []Event {
	var ids []string
	byID := map[string]*Event{}
	for _, i := range items {
		e := byID[i.EventID]
		if e == nil {
			e = &Event{}
			byID[i.EventID], ids = e, append(ids, i.EventID)
		}
		e.Title, e.At, e.New = i.Title, i.Time, !since.IsZero() && i.Seen.After(since) // at last of its first item
	}
	events := make([]Event, 0, maxEvents)
	for _, id := range ids[:min(len(ids), maxEvents)] {
		events = append(events, *byID[id])
	}
	return events
}

package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/untrusted"
	"feedmesh/agent/wire"
)

// storyURI begins the URI of a story.
const storyURI = "feedmesh://stories/"

// A story is a story with some of its items.
type story struct {
	ID         string         `json:"id"`
	URI        string         `json:"uri"`
	Language   string         `json:"language" jsonschema:"ISO 639-1, or other"`
	Items      int            `json:"items" jsonschema:"number of its items"`
	Publishers int            `json:"publishers" jsonschema:"number of its publishers"`
	FirstSeen  time.Time      `json:"first_seen"`
	LastSeen   time.Time      `json:"last_seen"`
	Categories []string       `json:"categories,omitempty"`
	Topics     []string       `json:"topics,omitempty"`
	Summary    []quotation    `json:"summary" jsonschema:"sentences of different publishers"`
	Members    []member       `json:"members" jsonschema:"its items, newest first; why states why an item belongs to its event"`
	Across     []storyLink    `json:"across,omitempty" jsonschema:"stories in another language about the same happening"`
	NextOffset int            `json:"next_offset,omitempty" jsonschema:"offset of the next members; absent if these are the last"`
	Notes      []string       `json:"notes,omitempty"`
	Untrusted  untrusted.Text `json:"untrusted"`
}

// A quotation is a sentence of an item.
type quotation struct {
	ItemID    string         `json:"item_id"`
	Untrusted untrusted.Text `json:"untrusted"`
}

// A member is an item of a story.
type member struct {
	ID          string         `json:"id"`
	Time        time.Time      `json:"time" jsonschema:"when it was first seen"`
	EventID     string         `json:"event_id,omitempty" jsonschema:"event of the story that it reports"`
	DuplicateOf string         `json:"duplicate_of,omitempty" jsonschema:"ID of the item that it repeats"`
	Untrusted   untrusted.Text `json:"untrusted"`
}

// A storyLink is a story in another language.
type storyLink struct {
	ID        string         `json:"id"`
	Language  string         `json:"language"`
	Items     int            `json:"items"`
	Untrusted untrusted.Text `json:"untrusted"`
}

func (a story) write(p *untrusted.Page) {
	p.Printf("%s", strings.Join(append(append([]string{
		fmt.Sprintf("Story %s: %d items of %d publishers, %s to %s, language %s", a.ID, a.Items, a.Publishers, at(a.FirstSeen), at(a.LastSeen), a.Language),
	}, a.Categories...), a.Topics...), ", "))
	p.Quote(a.Untrusted)
	writeQuotations(p, a.Summary)
	for n, m := range a.Members {
		words := fmt.Sprintf("%d. item %s, first seen %s, event %s", n+1, m.ID, at(m.Time), m.EventID)
		if m.DuplicateOf != "" {
			words += ", repeats item " + m.DuplicateOf
		}
		p.Printf("%s", words)
		p.Quote(m.Untrusted)
	}
	for _, link := range a.Across {
		p.Printf("The same happening in language %s: story %s of %d items", link.Language, link.ID, link.Items)
		p.Quote(link.Untrusted)
	}
	for _, note := range a.Notes {
		p.Printf("Note: %s", note)
	}
	if a.NextOffset > 0 {
		p.Printf("More items: read_story with id %s and offset %d", a.ID, a.NextOffset)
	}
}

func writeQuotations(p *untrusted.Page, quotes []quotation) {
	for _, q := range quotes {
		p.Printf("Sentence of item %s:", q.ItemID)
		p.Quote(q.Untrusted)
	}
}

type readStoryInput struct {
	ID     string `json:"id" maxLength:"64" jsonschema:"ID of a story"`
	Offset int    `json:"offset,omitempty" minimum:"0" default:"0" jsonschema:"items to skip: next_offset of the previous answer"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"50" default:"20" jsonschema:"items to return"`
}

// addStoryTools adds the tool that reads stories.
func (s *server) addStoryTools() {
	addTool(s, tool{
		name: "read_story", title: "Read a story", scope: access.Search,
		description: "Returns a story: its summary, its items, why each belongs to it, and stories about the same happening in another language.",
	}, s.readStory)
}

func (s *server) readStory(ctx context.Context, in readStoryInput) (story, error) {
	read, err := s.Stories.Get(ctx, wire.ByID{ID: in.ID})
	if err != nil {
		return story{}, err
	}
	a := story{
		ID: read.ID, URI: storyURI + read.ID, Language: read.Partition, Items: read.Story.Items, Publishers: read.Sources,
		FirstSeen: read.FirstSeen, LastSeen: read.LastSeen, Categories: read.Categories, Topics: read.Topics,
		Summary: []quotation{}, Notes: read.Notes, Untrusted: untrusted.Text{Title: untrusted.Line(read.Title, untrusted.MaxTitle)},
	}
	for _, q := range read.Summary {
		a.Summary = append(a.Summary, quotation{q.Item.ID, untrusted.Text{Publisher: untrusted.Line(q.Item.Publisher, untrusted.MaxTitle), Text: untrusted.Line(q.Text, untrusted.MaxText)}})
	}
	all := membersOf(read.Timeline)
	from := min(in.Offset, len(all))
	to := min(from+in.Limit, len(all))
	if a.Members = all[from:to]; to < len(all) {
		a.NextOffset = to
	}
	for _, link := range read.Across {
		a.Across = append(a.Across, storyLink{link.ID, link.Language, link.Items, untrusted.Text{Title: untrusted.Line(link.Title, untrusted.MaxTitle), Why: untrusted.Line(link.Why, untrusted.MaxTitle)}})
	}
	return a, nil
}

// membersOf returns the items of events with their duplicates, newest first.
func membersOf(events []wire.StoryEvent) []member {
	members := []member{}
	add := func(i wire.ItemBrief, why string) {
		members = append(members, member{i.ID, i.Seen, i.EventID, i.DuplicateOf, untrusted.Text{
			Title: untrusted.Line(i.Title, untrusted.MaxTitle), URL: untrusted.Address(i.URL), Publisher: untrusted.Line(i.Publisher, untrusted.MaxTitle), Why: untrusted.Line(why, untrusted.MaxTitle),
		}})
	}
	for _, event := range events {
		for _, i := range event.Items {
			add(i.ItemBrief, i.StoryWhy)
			for _, repeat := range i.Duplicates {
				add(repeat, repeat.DuplicateWhy)
			}
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return b.Time.Compare(a.Time) })
	return members
}

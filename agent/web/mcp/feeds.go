package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/untrusted"
	"feedmesh/agent/wire"
)

// A feed is a feed with its health.
type feed struct {
	ID        string         `json:"id"`
	Items     int64          `json:"items" jsonschema:"stored items"`
	LastItem  time.Time      `json:"last_item,omitzero" jsonschema:"date of its newest item; absent without items"`
	LastPoll  string         `json:"last_poll" jsonschema:"result of the last poll"`
	NextPoll  string         `json:"next_poll"`
	Problem   string         `json:"problem,omitempty" jsonschema:"current problem; absent if the last poll succeeded"`
	Advice    string         `json:"advice,omitempty"`
	Untrusted untrusted.Text `json:"untrusted"`
}

// A feedPage is a page of feeds.
type feedPage struct {
	Feeds []feed `json:"feeds"`
	Next  string `json:"next,omitempty" jsonschema:"cursor of the next page; absent on the last; a page may be short or empty without being the last"`
}

func (a feedPage) write(p *untrusted.Page) {
	p.Printf("%d feeds on this page.", len(a.Feeds))
	for n, f := range a.Feeds {
		p.Printf("%d. feed %s: %d items, newest %s, last poll %s, next poll %s", n+1, f.ID, f.Items, at(f.LastItem), f.LastPoll, f.NextPoll)
		if f.Problem != "" {
			p.Printf("Problem: %s %s", f.Problem, f.Advice)
		}
		p.Quote(f.Untrusted)
	}
	if a.Next != "" {
		p.Printf("More: repeat the call with cursor %s", a.Next)
	}
}

// An addedFeed is the result of adding a feed.
type addedFeed struct {
	FeedID  string `json:"feed_id"`
	Outcome string `json:"outcome" jsonschema:"added, or known if it was stored before"`
}

func (a addedFeed) write(p *untrusted.Page) {
	p.Printf("Feed %s: %s. A new feed is polled within a minute; then search finds its items.", a.FeedID, a.Outcome)
}

type listFeedsInput struct {
	Text   string `json:"text,omitempty" maxLength:"256" jsonschema:"text in title, address or site"`
	Tag    string `json:"tag,omitempty" maxLength:"128" jsonschema:"only feeds with this tag"`
	State  string `json:"state,omitempty" enum:"failing,gone,new,due,polling,ok" jsonschema:"only feeds in this state"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"50" default:"20" jsonschema:"feeds a page"`
	Cursor string `json:"cursor,omitempty" maxLength:"4096" jsonschema:"next of the previous page"`
}

type addFeedInput struct {
	URL  string   `json:"url" maxLength:"2048" jsonschema:"address of a feed"`
	Tags []string `json:"tags,omitempty" maxItems:"32" jsonschema:"tags of the feed"`
}

// addFeedTools adds the tools on feeds.
func (s *server) addFeedTools() {
	addTool(s, tool{
		name: "list_feeds", title: "List feeds", scope: access.Read,
		description: "Lists the feeds that are polled, with their health.",
	}, s.listFeeds)
	addTool(s, tool{
		name: "add_feed", title: "Add a feed", scope: access.Write, changes: true,
		description: "Adds a feed by its address. Only add feeds that the user asks for.",
	}, s.addFeed)
}

func (s *server) listFeeds(ctx context.Context, in listFeedsInput) (feedPage, error) {
	found, err := s.Feeds.List(ctx, wire.FeedSearch{
		FeedFilter: wire.FeedFilter{Text: in.Text, Tag: in.Tag, State: in.State}, Sort: "url", After: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return feedPage{}, err
	}
	page := feedPage{Feeds: make([]feed, len(found.Feeds)), Next: found.Next}
	for n, f := range found.Feeds {
		view := feed{
			ID: f.ID, Items: f.Items, LastItem: f.LastItem, LastPoll: f.LastPoll(), NextPoll: f.NextPoll(s.Now(), at),
			Untrusted: untrusted.Text{Title: untrusted.Line(f.Name(), untrusted.MaxTitle), URL: untrusted.Address(f.URL), Tags: untrusted.Line(strings.Join(f.Tags, ", "), untrusted.MaxText)},
		}
		if f.Problem != nil {
			view.Problem, view.Advice = f.Problem.Summary, f.Problem.Advice
		}
		page.Feeds[n] = view
	}
	return page, nil
}

func (s *server) addFeed(ctx context.Context, in addFeedInput) (addedFeed, error) {
	results, err := s.Feeds.Add(ctx, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{in.URL}, Tags: in.Tags}})
	switch {
	case err != nil:
		return addedFeed{}, err
	case len(results.Results) != 1:
		return addedFeed{}, fmt.Errorf("got %d results for one address", len(results.Results))
	}
	result := results.Results[0]
	if result.Outcome == wire.ImportInvalid {
		return addedFeed{}, &service.Error{Kind: service.KindInvalid, Message: "the feed was not added: " + cmp.Or(result.Reason, "its address is invalid")}
	}
	return addedFeed{FeedID: result.FeedID, Outcome: result.Outcome}, nil
}

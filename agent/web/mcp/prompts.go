package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"feedmesh/agent/untrusted"
	"feedmesh/agent/wire"
)

// A briefing is what the prompt of a briefing contains, see [service.BriefingSelection].
type briefing struct {
	stories []wire.StoryBrief
	items   itemPage
}

func (a briefing) write(p *untrusted.Page) {
	for n, s := range a.stories {
		p.Printf("%d. story %s: %d items of %d publishers, last %s, headline item %s", n+1, s.ID, s.Items, s.Sources, at(s.LastSeen), s.Headline)
		p.Quote(untrusted.Text{Title: untrusted.Line(s.Title, untrusted.MaxTitle), URL: untrusted.Address(s.URL), Publisher: untrusted.Line(s.FeedTitle, untrusted.MaxTitle)})
		for _, sentence := range s.Summary {
			writeQuotations(p, []quotation{{sentence.ItemID, untrusted.Text{Text: untrusted.Line(sentence.Text, untrusted.MaxText)}}})
		}
	}
	a.items.writeRest(p)
	if len(a.stories)+len(a.items.Items) == 0 {
		p.Printf("There are no items. Say so.")
	}
}

// addPrompts adds the prompt of a briefing.
func (s *server) addPrompts() {
	s.sdk.AddPrompt(&sdk.Prompt{
		Name: "morning-briefing", Title: "Morning briefing", Description: "A briefing of the top stories, or of a view, in which each sentence cites an item.",
		Arguments: []*sdk.PromptArgument{
			{Name: "view", Description: "Name of a view to report on, in place of the top stories."},
			{Name: "hours", Description: "Hours that the top stories are from, 1 to 336; 24 without it."},
			{Name: "language", Description: "Language to write in, such as English or ru; that of the conversation without it."},
		},
	}, s.morningBriefing)
}

func (s *server) morningBriefing(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	in := wire.BriefingRequest{View: r.Params.Arguments["view"], Language: r.Params.Arguments["language"]}
	if hours := r.Params.Arguments["hours"]; hours != "" {
		n, err := strconv.Atoi(hours)
		if err != nil || n < 1 {
			return nil, errors.New("hours must be a number from 1 to 336")
		}
		in.Hours = n
	}
	selected, err := s.Briefings.Select(ctx, in)
	if err != nil {
		return nil, forModel(err, s.Log)
	}
	a, subject := briefing{selected.Stories, itemPage{Items: foundItems(selected.Items)}}, "the items of a view"
	if in.View == "" {
		subject = fmt.Sprintf("the top stories of the last %d hours", selected.Hours)
		if len(a.stories) == 0 {
			a.items.Notes = []string{"no story has two publishers; these are the newest items"}
		}
	}
	instruction := "Write a morning briefing about " + subject + " below: the most important first, at most 400 words, each story in one to three sentences. " +
		"End every sentence with the item that it is from, as [item ID](address), or [item ID] without an address. " +
		"Write nothing that no item says; where items disagree, say so. Read more with read_story and read_item where a summary is not enough."
	if in.Language != "" {
		instruction += " Write in this language: " + in.Language + "."
	}
	message := &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: instruction + "\n\n" + textOf(a)}}
	return &sdk.GetPromptResult{Description: "Briefing about " + subject, Messages: []*sdk.PromptMessage{message}}, nil
}

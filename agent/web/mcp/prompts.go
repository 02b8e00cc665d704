package mcp

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"feedmesh/agent/untrusted"
	"feedmesh/agent/wire"
)

const (
	briefingStories = 12
	briefingItems   = 20
	briefingHours   = 24
	maxHours        = 24 * 14
)

// A briefing is what the prompt of a briefing contains: the items of a view, or top stories, or, without stories, the
// newest items.
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
			{Name: "hours", Description: fmt.Sprintf("Hours that the top stories are from, 1 to %d; %d without it.", maxHours, briefingHours)},
			{Name: "language", Description: "Language to write in, such as English or ru; that of the conversation without it."},
		},
	}, s.morningBriefing)
}

// languageName matches names and codes of languages: the argument becomes part of an instruction.
var languageName = regexp.MustCompile(`^[\p{L} -]{0,32}$`)

func (s *server) morningBriefing(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	view, hours, language := r.Params.Arguments["view"], r.Params.Arguments["hours"], r.Params.Arguments["language"]
	if !languageName.MatchString(language) {
		return nil, fmt.Errorf("the language must be a name or a code of letters, such as English or ru")
	}
	span := briefingHours
	if hours != "" {
		n, err := strconv.Atoi(hours)
		if err != nil || n < 1 || n > maxHours {
			return nil, fmt.Errorf("hours must be a number from 1 to %d", maxHours)
		}
		span = n
	}
	if view != "" && hours != "" {
		return nil, fmt.Errorf("give either view or hours: a view has a window of its own")
	}
	a, subject, err := briefing{}, "", error(nil)
	if view == "" {
		subject = fmt.Sprintf("the top stories of the last %d hours", span)
		a, err = s.topStories(ctx, time.Duration(span)*time.Hour)
	} else {
		subject = "the items of a view"
		a.items, err = s.readView(ctx, readViewInput{Name: view, Limit: briefingItems})
	}
	if err != nil {
		return nil, forModel(err, s.Log)
	}
	instruction := "Write a morning briefing about " + subject + " below: the most important first, at most 400 words, each story in one to three sentences. " +
		"End every sentence with the item that it is from, as [item ID](address), or [item ID] without an address. " +
		"Write nothing that no item says; where items disagree, say so. Read more with read_story and read_item where a summary is not enough."
	if language != "" {
		instruction += " Write in this language: " + language + "."
	}
	message := &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: instruction + "\n\n" + textOf(a)}}
	return &sdk.GetPromptResult{Description: "Briefing about " + subject, Messages: []*sdk.PromptMessage{message}}, nil
}

// topStories returns the stories of highest rank of a period until now. Without stories of two publishers it returns the
// newest items.
func (s *server) topStories(ctx context.Context, period time.Duration) (a briefing, err error) {
	after := s.Now().Add(-period)
	page, err := s.Stories.List(ctx, wire.StorySearch{After: after, Sources: 2, Sort: "rank", Limit: briefingStories})
	if a.stories = page.Stories; err != nil || len(a.stories) > 0 {
		return a, err
	}
	found, err := s.Search.Find(ctx, wire.Search{After: after, Sort: "newest", Once: true, Limit: briefingItems})
	a.items = itemPage{Items: foundItems(found.Items), Notes: []string{"no story has two publishers; these are the newest items"}}
	return a, err
}

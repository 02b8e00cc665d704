package briefing

import (
	"fmt"
	"strings"

	"feedmesh/agent/untrusted"
	"feedmesh/agent/wire"
)

// Bounds of the text that the endpoint gets: about 6,000 tokens of English.
const (
	maxSources    = 40
	maxSourceText = 600    // characters of an item
	maxInput      = 24_000 // characters of all items
)

// A Source is an item with what a briefing may report of it.
type Source struct {
	wire.ItemBrief
	Text       string // plain text; may be empty
	Publishers int    // how many publishers carry its story; 0: unknown
}

// bounded returns the first sources with shortened texts, as many as the endpoint gets.
func bounded(sources []Source) []Source {
	var kept []Source
	size := 0
	for _, s := range sources[:min(len(sources), maxSources)] {
		s.Title, s.Text = untrusted.Line(s.Title, untrusted.MaxTitle), untrusted.Line(s.Text, maxSourceText)
		if size += len([]rune(s.Title + s.Text)); size > maxInput {
			break
		}
		kept = append(kept, s)
	}
	return kept
}

// instruction returns the message of this program to the model.
func instruction(language string) string {
	text := "You write a briefing from numbered items of news, as plain text without headings, lists, links or Markdown. Report the most important first, in at most 300 words. " +
		"Use only what the items contain; where they disagree, write so. " +
		"End every sentence with the numbers of the items that it is from in square brackets, before the full stop: The release adds a scheduler [1][4]. " +
		"A sentence without such numbers is deleted. "
	if language == "" {
		return text + "Write in the language of most items."
	}
	return text + "Write in this language: " + language + "."
}

// input returns the items as text for the model. Text of publishers stands in blocks with a random boundary.
func input(sources []Source) string {
	p := untrusted.NewPage()
	for n, s := range sources {
		line := fmt.Sprintf("Item %d", n+1)
		if at := s.Published; !at.IsZero() {
			line += ", published " + at.UTC().Format("2006-01-02 15:04 UTC")
		}
		if s.Publishers > 1 {
			line += fmt.Sprintf(", of a story of %d publishers", s.Publishers)
		}
		p.Printf("%s", line)
		p.Quote(untrusted.Text{Title: s.Title, Publisher: untrusted.Line(s.Publisher, untrusted.MaxTitle), Text: s.Text})
	}
	return strings.TrimSpace(p.String())
}

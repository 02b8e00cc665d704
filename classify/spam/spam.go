// Package spam scores documents for spam. A [Filter] combines lists that users can edit ([Shipped], [Parse]),
// the appearance of the text and learned word counts ([AddExamples]) into a [Verdict] with a probability and
// its reasons. A [HistoryCache] adds the history of feeds and hosts; it is a bounded cache. The package is
// independent of queues and storage.
package spam

import (
	"fmt"

	"feedmesh/classify/stem"
)

const (
	maxText  = 64 << 10  // bytes examined of a text, a URL and the like
	maxHTML  = 256 << 10 // bytes of markup examined for links
	maxStems = 8000      // stems examined
	maxWhy   = 8         // reasons
)

// A Document is the input of a [Filter]. Any field may be empty. A document without title, URL, host and feed
// title is a message: its sender is unknown, and it is more often spam than the items of a feed that somebody
// chose.
type Document struct {
	Title, Text string // plain text
	HTML        string // for its links; need not be cleaned
	URL, Host   string // if Host is empty, the host of URL is used
	Author      string
	Language    string // ISO 639-1
	FeedTitle   string
	TitleStems  []stem.Word // of Title by [stem.Words] in Language; computed if nil
	Stems       []stem.Word // of Text, likewise
}

func (d *Document) isMessage() bool {
	return d.Title == "" && d.URL == "" && d.Host == "" && d.FeedTitle == ""
}

// A Verdict is the result of scoring a document.
type Verdict struct {
	Score float64  // probability of spam, 0 to 1, in steps of 1/1000
	Flags []string // of "adult", "affiliate", "sponsored", by name; a flag does not make a document spam

	evidence []evidence // largest weight first
	flagged  []evidence // the first evidence for each flag
}

// Reasons returns sentences for the evidence, largest weight first, followed by the reasons of flags: at most
// 8. Evidence against spam is included. The sentences are formatted on each call, because most documents are
// not spam and need none.
func (v Verdict) Reasons() []string {
	var why []string
	for _, e := range v.evidence[:min(len(v.evidence), maxWhy-len(v.flagged))] {
		why = append(why, e.String())
	}
	return append(why, v.FlagReasons()...)
}

// FlagReasons returns a sentence for each flag.
func (v Verdict) FlagReasons() []string {
	var why []string
	for _, e := range v.flagged {
		why = append(why, fmt.Sprintf("%s: %s%s", e.kind, e.describe(), e.where))
	}
	return why
}

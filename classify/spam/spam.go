// Package spam tells unwanted items from the others, says how sure it is of that
// and why. What it looks for are lists that people edit; see [Shipped]. It knows
// nothing of feeds, queues or storage.
package spam

import (
	"fmt"
	"math"

	"feedmesh/classify/stem"
)

const (
	maxText  = 64 << 10  // bytes of a text, an address, ... that are looked at
	maxHTML  = 256 << 10 // bytes of markup that are looked at for links
	maxStems = 8000      // stems that are looked at
	maxWhy   = 8         // reasons
)

// A Document is what is judged. Any field may be empty. One that has neither
// title, address, host nor feed is a message: it came from nobody we know, and is
// more often spam than the items of a feed that somebody chose.
type Document struct {
	Title, Text string // plain
	HTML        string // for its links; may be clean or not
	URL, Host   string // Host is that of URL, if empty
	Author      string
	Language    string // ISO 639-1
	FeedTitle   string
	TitleStems  []stem.Word // of Title by [stem.Words] in Language; computed if nil
	Stems       []stem.Word // of Text, alike
}

func (d *Document) isMessage() bool {
	return d.Title == "" && d.URL == "" && d.Host == "" && d.FeedTitle == ""
}

// A Verdict is what a filter thinks of a document.
type Verdict struct {
	Score float64  // probability of spam, 0 to 1, in steps of 1/1000
	Flags []string // of "adult", "affiliate", "sponsored", by name; they are no spam by that

	evidence []evidence // what weighs most first
	flagged  []evidence // the first of each flag
}

// Judge weighs what speaks for and against spam. habits are those of the
// document's feed and host, the zero Habits if nobody knows. The score is the
// logistic function of the sum of the weights of what was found: each is the
// logarithm of how much likelier spam is to show it. What is of one kind is not
// independent: each further piece counts 0.6 of the one before it. Equal
// documents with equal habits get equal verdicts.
func (f *Filter) Judge(d Document, habits Habits) Verdict {
	return f.weigh(&d, habits).verdict()
}

// Why says in sentences what the verdict rests on, what weighs most first, and then
// where the flags are from: 8 of them at most. They may speak against spam, too. It
// puts them into words anew each time, as of what is no spam nobody asks.
func (v Verdict) Why() []string {
	var why []string
	for _, e := range v.evidence[:min(len(v.evidence), maxWhy-len(v.flagged))] {
		why = append(why, e.String())
	}
	return append(why, v.WhyFlagged()...)
}

// WhyFlagged says where the flags are from, a sentence for each.
func (v Verdict) WhyFlagged() []string {
	var why []string
	for _, e := range v.flagged {
		why = append(why, fmt.Sprintf("%s: %s%s", e.kind, e.words(), e.where))
	}
	return why
}

// weigh collects the evidence there is in a document.
func (f *Filter) weigh(d *Document, habits Habits) *scales {
	shorten(d)
	s := &scales{filter: f, doc: d, message: d.isMessage(), evidence: make([]evidence, 0, 8)}
	if s.message {
		s.sum = f.weights[priorMessage]
	} else {
		s.sum = f.weights[prior]
	}
	index := f.indexOf(d.Language)
	s.title, s.text = d.TitleStems, d.Stems
	if s.title == nil {
		s.title = stem.Words(d.Title, d.Language)
	}
	if s.text == nil {
		s.text = stem.Words(d.Text, d.Language)
	}
	s.text = s.text[:min(len(s.text), maxStems)]
	s.phrases(index)
	s.numbers()
	s.mismatch()
	s.links(linksOf(d, s.text))
	s.looks(index)
	discount(s.evidence)
	s.found = s.total()
	s.learned()
	s.habits(habits)
	return s
}

// shorten bounds what a document costs.
func shorten(d *Document) {
	for _, s := range []*string{&d.Title, &d.Text, &d.URL, &d.Host, &d.Author} {
		*s = (*s)[:min(len(*s), maxText)]
	}
	d.HTML = d.HTML[:min(len(d.HTML), maxHTML)]
}

// logistic turns log-odds into a probability, rounded so that machines which
// round otherwise agree.
func logistic(odds float64) float64 {
	return math.Round(1000/(1+math.Exp(-odds))) / 1000
}

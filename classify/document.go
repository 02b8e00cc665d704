package classify

import (
	"time"

	"feedmesh/classify/spam"
	"feedmesh/classify/stem"
)

// A Document is what an item is classified by. Any field may be empty.
type Document struct {
	Title             string
	Text              string // plain
	HTML              string // the cleaned markup, for its links
	URL, Author       string
	FeedID, FeedTitle string
	FeedTags          []string
	Language          string      // ISO 639-1
	TitleStems        []stem.Word // of Title by [stem.Words] in Language; computed if nil
	Stems             []stem.Word // of Text, alike
	Tags              []string    // the publisher's categories
	Published         time.Time
	FeedCategories    map[string]float64 // how many of the feed's last items have each category
	SpamThreshold     float64            // of the feed; 0: the one of the lists
}

// stem computes the stems of title and text that are not given.
func (d *Document) stem() {
	if d.TitleStems == nil {
		d.TitleStems = stem.Words(d.Title, d.Language)
	}
	if d.Stems == nil {
		d.Stems = stem.Words(d.Text, d.Language)
	}
}

// ForSpam returns what of the document tells whether it is spam.
func (d Document) ForSpam() spam.Document {
	return spam.Document{
		Title: d.Title, Text: d.Text, HTML: d.HTML, URL: d.URL, Host: hostOf(d.URL), Author: d.Author,
		Language: d.Language, FeedTitle: d.FeedTitle, TitleStems: d.TitleStems, Stems: d.Stems,
	}
}

package classify

import (
	"time"

	"feedmesh/classify/spam"
	"feedmesh/classify/stem"
)

// A Document is the input of classification. Any field may be empty.
type Document struct {
	Title             string
	Text              string // plain text
	HTML              string // cleaned markup; only its links are used
	URL, Author       string
	FeedID, FeedTitle string
	FeedTags          []string
	Language          string      // ISO 639-1
	TitleStems        []stem.Word // of Title by [stem.Words] in Language; computed if nil
	Stems             []stem.Word // of Text, likewise
	Tags              []string    // the publisher's categories
	Published         time.Time
	FeedCategories    map[string]float64 // number of the feed's recent items in each category
	SpamThreshold     float64            // of the feed; 0: the threshold of the spam lists
}

// stem computes missing stems of title and text.
func (d *Document) stem() {
	if d.TitleStems == nil {
		d.TitleStems = stem.Words(d.Title, d.Language)
	}
	if d.Stems == nil {
		d.Stems = stem.Words(d.Text, d.Language)
	}
}

// SpamDocument returns the fields that the spam filter uses.
func (d Document) SpamDocument() spam.Document {
	return spam.Document{
		Title: d.Title, Text: d.Text, HTML: d.HTML, URL: d.URL, Host: hostOf(d.URL), Author: d.Author,
		Language: d.Language, FeedTitle: d.FeedTitle, TitleStems: d.TitleStems, Stems: d.Stems,
	}
}

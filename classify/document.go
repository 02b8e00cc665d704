package classify

import (
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/classify/query"
	"feedmesh/classify/rule"
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

// A fieldReader yields the texts of a field of a document, with their stems if they are known. A [rule.Value]
// equals any of the texts, which are folded; a regular expression searches the first.
type fieldReader struct {
	texts func(d *Document, yield yieldText)
	words func(string) string // separates the words of a text by spaces; nil: they are separated
}

type yieldText = func(text string, stems []stem.Word)

var fieldReaders = [rule.FieldCount]fieldReader{
	rule.Title: {texts: func(d *Document, yield yieldText) { yield(d.Title, d.TitleStems) }},
	rule.Tags: {texts: func(d *Document, yield yieldText) {
		for _, tag := range d.Tags[:min(len(d.Tags), maxTags)] {
			yield(tag, nil)
		}
	}},
	rule.Body:      {texts: func(d *Document, yield yieldText) { yield(d.Text, d.Stems) }},
	rule.FeedTitle: {texts: func(d *Document, yield yieldText) { yield(d.FeedTitle, nil) }},
	rule.FeedTags: {texts: func(d *Document, yield yieldText) {
		for _, tag := range d.FeedTags {
			yield(folded(tag), nil)
		}
	}},
	rule.Author: {texts: func(d *Document, yield yieldText) { yield(d.Author, nil) }},
	rule.URL:    {texts: func(d *Document, yield yieldText) { yield(d.URL, nil) }, words: wordsOfURL},
	rule.Host: {texts: func(d *Document, yield yieldText) {
		for h := hostOf(d.URL); h != ""; _, h, _ = strings.Cut(h, ".") { // the host and its parent domains
			yield(h, nil)
		}
	}},
	rule.Lang: {texts: func(d *Document, yield yieldText) { yield(folded(d.Language), nil) }},
}

// fields holds the values of a document that are compared as a whole, the texts that regular expressions run
// on, and the texts in which words are searched for.
type fields struct {
	values   []value
	searched [rule.FieldCount]string // in lower case
	segments []segment
}

// read extracts the fields of a document; wordy are those in which words are searched for.
func (f *fields) read(d *Document, wordy fieldSet) {
	for at := rule.Anywhere + 1; at < rule.FieldCount; at++ {
		reader := &fieldReaders[at]
		takes := kindsOf[at]
		reader.texts(d, func(text string, stems []stem.Word) {
			if text == "" && stems == nil {
				return
			}
			if takes.values {
				f.values = append(f.values, value{at, text})
			}
			if takes.regexps && f.searched[at] == "" {
				f.searched[at] = searched(text)
			}
			if !wordy.has(at) {
				return
			}
			if reader.words != nil {
				text = reader.words(text)
			}
			if stems == nil {
				stems = stem.Words(text, d.Language)
			}
			f.segments = append(f.segments, segment{at, text, stems})
		})
	}
}

// kindsOf has the ways in which each field is compared.
var kindsOf = func() (takes [rule.FieldCount]struct{ values, regexps bool }) {
	for f := range takes {
		takes[f].values, takes[f].regexps = rule.Field(f).Takes(rule.Value), rule.Field(f).Takes(rule.Regexp)
	}
	return takes
}()

// folded returns the form in which values are compared.
func folded(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func searched(s string) string {
	if len(s) > maxSearched {
		end := maxSearched
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	return strings.ToLower(s)
}

// hostOf returns the host of a URL in lower case, or "".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// maxTags bounds the publisher's categories that are examined. Legitimate items have about ten.
const maxTags = 100

// wordsOfURL separates the words of a URL by spaces, because [stem.Words] skips URLs.
func wordsOfURL(address string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(":/?&=_-@%", r) {
			return ' '
		}
		return r
	}, address)
}

// queryDocument returns the fields that scope queries use. Its words are split when a query first needs them.
func (d *Document) queryDocument() *query.Document {
	return &query.Document{
		Title: d.Title, Author: d.Author, Text: d.Text, Tags: d.Tags[:min(len(d.Tags), maxTags)],
		Feed: d.FeedID, Language: folded(d.Language), URL: d.URL, Published: d.Published,
	}
}

package meilisearch

import (
	"bytes"
	"encoding/json"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// An attribute is a field of a document, with the name shown in the dashboard.
type attribute string

const (
	attrID         attribute = "id" // see keyOf
	attrTitle      attribute = "title"
	attrExcerpt    attribute = "excerpt"
	attrURL        attribute = "url"
	attrPublished  attribute = "published" // see timeOf
	attrSite       attribute = "site"
	attrAuthor     attribute = "author"
	attrCategory   attribute = "category"
	attrTopic      attribute = "topic"
	attrFlag       attribute = "flag"
	attrSentiment  attribute = "sentiment" // see [storage.SentimentOf]
	attrTags       attribute = "tags"
	attrLanguage   attribute = "language"
	attrFeed       attribute = "feed"
	attrSpam       attribute = "spam"
	attrDuplicate  attribute = "duplicate"
	attrImage      attribute = "image"
	attrText       attribute = "text"
	attrStory      attribute = "story"
	attrTitleStems attribute = "title_stems"
	attrTagStems   attribute = "tag_stems"
	attrByStems    attribute = "author_stems"
	attrStems      attribute = "stems"
	attrTitleWords attribute = "title_words"
	attrHosts      attribute = "hosts" // see [query.Hosts]
	attrProminence attribute = "prominence"
	attrLatest     attribute = "latest"  // see latestOf
	attrDay        attribute = "day"     // of FirstSeen, such as "2026-03-01"
	attrChanged    attribute = "changed" // microseconds
	attrForm       attribute = "form"    // see form
)

func names(attributes ...attribute) []string {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = string(a)
	}
	return names
}

// A wordPart is a part of items whose words are searched for.
type wordPart struct {
	in      query.Part // as queries name it; [query.Anywhere] if they cannot
	texts   func(*storage.IndexItem) []string
	written attribute                 // contains the words as written
	stems   attribute                 // contains the tokens; attrStems those of all parts, and alone those of phrases and of single parts
	tokens  func(*document) *[]string // the value of stems
	stem    tokenKind                 // of its stems; only of parts that queries name, as pairs
	pairs   tokenKind
	weight  float64 // of a word of it, when items are compared
}

// wordParts are all of them, the most significant first. A new one needs another form.
var wordParts = []wordPart{
	{
		in: query.Title, texts: func(it *storage.IndexItem) []string { return []string{it.Title} }, stem: titleStem, pairs: titlePair, weight: 8,
		written: attrTitle, stems: attrTitleStems, tokens: func(d *document) *[]string { return &d.TitleStems },
	},
	{
		texts: func(it *storage.IndexItem) []string { return it.Tags }, weight: 3,
		written: attrTags, stems: attrTagStems, tokens: func(d *document) *[]string { return &d.TagStems },
	},
	{
		in: query.Author, texts: func(it *storage.IndexItem) []string { return []string{it.Author} }, stem: authorStem, pairs: authorPair, weight: 2,
		written: attrAuthor, stems: attrByStems, tokens: func(d *document) *[]string { return &d.AuthorStems },
	},
	{
		texts: func(it *storage.IndexItem) []string { return []string{it.Text} }, weight: 1,
		written: attrText, stems: attrStems, tokens: func(d *document) *[]string { return &d.Stems },
	},
}

// stemAttributes are the attributes that searches use, the most significant first.
var stemAttributes = func() (all []attribute) {
	for _, p := range wordParts {
		all = append(all, p.stems)
	}
	return all
}()

// writtenIn returns the attributes with the words of a part as written, the most significant first.
func writtenIn(in query.Part) (all []attribute) {
	for _, p := range wordParts {
		if in == query.Anywhere || in == p.in {
			all = append(all, p.written)
		}
	}
	return all
}

// kindsOf returns the kinds of the tokens of a part: of its stems and of its pairs.
func kindsOf(in query.Part) (stem, pairs tokenKind) {
	for _, p := range wordParts {
		if in != query.Anywhere && in == p.in {
			return p.stem, p.pairs
		}
	}
	return anyStem, pair
}

// form is the version of the document format. A change makes the reconciler put all items again: see
// [Index.Stamps].
const form = 2

// A document is the Meilisearch document of an item, in display order. Searchable attributes are present even
// if empty, or Meilisearch would reject them before the first value. Meilisearch indexes 65,535 words of an
// attribute, more than any text has distinct tokens.
type document struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Excerpt   string   `json:"excerpt,omitempty"`
	URL       string   `json:"url,omitempty"`
	Published string   `json:"published"`
	Site      string   `json:"site,omitempty"` // host of the URL, for people: feed IDs are opaque
	Author    string   `json:"author"`
	Category  []string `json:"category,omitempty"`
	Topic     []string `json:"topic,omitempty"`
	Flag      []string `json:"flag,omitempty"`
	Sentiment string   `json:"sentiment,omitempty"`
	Tags      []string `json:"tags"`
	Language  string   `json:"language,omitempty"`
	Feed      string   `json:"feed"`
	Spam      bool     `json:"spam"`
	Duplicate bool     `json:"duplicate"`
	Image     string   `json:"image,omitempty"` // the first
	Story     string   `json:"story,omitempty"` // documents without a story do not count as one story

	// The following attributes are not displayed.

	Text        string   `json:"text"`
	TitleStems  []string `json:"title_stems"` // like all stems: see padded
	TagStems    []string `json:"tag_stems"`
	AuthorStems []string `json:"author_stems"`
	Stems       []string `json:"stems"`
	TitleWords  []string `json:"title_words,omitempty"`
	Hosts       []string `json:"hosts,omitempty"`
	Prominence  int      `json:"prominence"`
	Latest      string   `json:"latest"`
	Day         string   `json:"day"`
	Changed     int64    `json:"changed"`
	Form        int      `json:"form"`
}

// documentOverhead is an estimate of the bytes of a document beside its text and stems.
const documentOverhead = 1500

// documentOf returns the item's document as a line of JSON.
func documentOf(it *storage.IndexItem) []byte {
	doc := document{
		ID: keyOf(it.ID), Title: it.Title, Excerpt: it.Excerpt, URL: it.URL, Published: timeOf(it.Published),
		Category: it.Categories, Topic: it.Topics, Flag: it.Flags, Sentiment: storage.SentimentOf(it.Sentiment),
		Tags: append([]string{}, it.Tags...), Author: it.Author, Site: siteOf(it.URL), Language: it.Language, Feed: it.FeedID,
		Spam: it.Spam, Duplicate: it.DuplicateOf != "", Image: first(it.Images), Story: it.StoryID,
		Text: it.Text, TitleWords: suggested(query.Words(it.Title)), Hosts: query.Hosts(it.URL), Prominence: it.Prominence(),
		Latest: latestOf(it.Published), Day: dayOf(it.FirstSeen), Changed: it.Changed.UnixMicro(), Form: form,
	}
	doc.setTokens(it)
	line := bytes.NewBuffer(make([]byte, 0, 2*len(doc.Text)+len(doc.Stems[len(doc.Stems)-1])+documentOverhead))
	to := json.NewEncoder(line)
	to.SetEscapeHTML(false)
	_ = to.Encode(doc) // never fails: only strings, numbers and booleans
	return line.Bytes()
}

// setTokens sets the tokens of all parts; in attrStems pairs come last, as they are the most.
func (d *document) setTokens(it *storage.IndexItem) {
	parts, count := make([][][]query.Word, len(wordParts)), 0
	for i, p := range wordParts {
		parts[i] = wordsOf(p.texts(it)...)
		var own tokenList
		for _, words := range parts[i] {
			if count += len(words); p.stems != attrStems {
				own.addStems(anyStem, words)
			}
		}
		if p.stems != attrStems {
			*p.tokens(d) = padded(own)
		}
	}
	all := tokenList{seen: make(map[string]bool, 2*count)} // a stem and a pair of each word
	all.add(append(all.next(), everyToken...))
	each := func(named bool, add func(p wordPart, words []query.Word)) {
		for i, p := range wordParts {
			if named && p.in == query.Anywhere { // queries do not name it
				continue
			}
			for _, words := range parts[i] {
				add(p, words)
			}
		}
	}
	each(true, func(p wordPart, words []query.Word) { all.addStems(p.stem, words) })
	each(false, func(_ wordPart, words []query.Word) { all.addStems(anyStem, words) })
	each(true, func(p wordPart, words []query.Word) { all.addPairs(p.pairs, words) })
	each(false, func(_ wordPart, words []query.Word) { all.addPairs(pair, words) })
	d.Stems = padded(all)
}

func wordsOf(texts ...string) [][]query.Word {
	words := make([][]query.Word, len(texts))
	for i, s := range texts {
		words[i] = query.Words(s)
	}
	return words
}

package meilisearch

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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

// stemAttributes contain the tokens for searches, the most significant first. attrStems contains all of them,
// and alone those of phrases and of single parts.
var stemAttributes = []attribute{attrTitleStems, attrTagStems, attrByStems, attrStems}

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

// documentOf returns the item's document as a line of JSON.
func documentOf(it *storage.IndexItem) []byte {
	title, author, tags := query.Words(it.Title), query.Words(it.Author), wordsOf(it.Tags...)
	var doc bytes.Buffer
	to := json.NewEncoder(&doc)
	to.SetEscapeHTML(false)
	_ = to.Encode(document{ // never fails: only strings, numbers and booleans
		ID: keyOf(it.ID), Title: it.Title, Excerpt: it.Excerpt, URL: it.URL, Published: timeOf(it.Published),
		Category: it.Categories, Topic: it.Topics, Flag: it.Flags, Sentiment: storage.SentimentOf(it.Sentiment),
		Tags: append([]string{}, it.Tags...), Author: it.Author, Site: siteOf(it.URL), Language: it.Language, Feed: it.FeedID,
		Spam: it.Spam, Duplicate: it.DuplicateOf != "", Image: first(it.Images), Story: it.StoryID,
		Text:        it.Text,
		TitleStems:  padded(tokensOf(anyStem, query.Stems(title))),
		TagStems:    padded(tokensOf(anyStem, query.Stems(slices.Concat(tags...)))),
		AuthorStems: padded(tokensOf(anyStem, query.Stems(author))),
		Stems:       padded(allTokens(title, author, tags, query.Words(it.Text))),
		TitleWords:  suggested(title), Hosts: query.Hosts(it.URL), Prominence: it.Prominence(),
		Latest: latestOf(it.Published), Day: dayOf(it.FirstSeen), Changed: it.Changed.UnixMicro(), Form: form,
	})
	return doc.Bytes()
}

func wordsOf(texts ...string) [][]query.Word {
	words := make([][]query.Word, len(texts))
	for i, s := range texts {
		words[i] = query.Words(s)
	}
	return words
}

// allTokens returns all tokens of an item's words; pairs come last, as they are the most.
func allTokens(title, author []query.Word, tags [][]query.Word, text []query.Word) []string {
	parts := slices.Concat([][]query.Word{title}, tags, [][]query.Word{author, text})
	tokens := slices.Concat([]string{everyToken}, tokensOf(titleStem, query.Stems(title)), tokensOf(authorStem, query.Stems(author)))
	for _, words := range parts {
		tokens = append(tokens, tokensOf(anyStem, query.Stems(words))...)
	}
	tokens = slices.Concat(tokens, pairsOf(titlePair, title), pairsOf(authorPair, author))
	for _, words := range parts {
		tokens = append(tokens, pairsOf(pair, words)...)
	}
	return tokens
}

// padded returns the distinct tokens as an attribute with no word among the first 40. Meilisearch ranks by a
// word's position, and treats positions from 33 to 64, to 128, and so on as equal: among items with the word
// in the title, at any position, prominent and new items must come first.
func padded(tokens []string) []string {
	return []string{"", "", "", "", "", strings.Join(unique(tokens), " ")}
}

// unique returns the distinct strings, in order.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	kept := make([]string, 0, len(list))
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			kept = append(kept, s)
		}
	}
	return kept
}

func siteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// timeOf formats t, in UTC and to the microsecond, so that it is readable and sorts by time.
func timeOf(t time.Time) string {
	t = t.UTC()
	if t.Year() > 9999 {
		t = time.Date(9999, 12, 31, 23, 59, 59, 999999e3, time.UTC)
	} else if t.Year() < 0 {
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t.Format("2006-01-02 15:04:05.999999")
}

// latestOf returns the number of days from t to lastDay. As text these numbers sort the latest days first;
// Meilisearch lists only the first values.
func latestOf(t time.Time) string {
	day, _ := time.Parse(time.DateOnly, dayOf(t)) // never fails on dayOf's format
	return fmt.Sprintf("%07d", (lastDay.Unix()-day.Unix())/(24*60*60))
}

// lastDay is the latest day of timeOf.
var lastDay = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

func dayOf(t time.Time) string { return timeOf(t)[:len(time.DateOnly)] }

// keyOf returns the document's key for an item's ID. IDs of [storage.ItemID] are lower-case letters and
// digits and stay unchanged. Meilisearch also accepts A-Z and -, but orders them as lower case, so all other
// characters are written as _ and two hexadecimal digits.
func keyOf(id string) string {
	var key strings.Builder
	for i := range len(id) {
		if c := id[i]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' {
			key.WriteByte(c)
		} else {
			key.WriteString("_" + hex.EncodeToString([]byte{c}))
		}
	}
	return key.String()
}

// idOf is the inverse of keyOf.
func idOf(key string) string {
	parts := strings.Split(key, "_")
	for i, part := range parts[1:] {
		if b, err := hex.DecodeString(part[:min(2, len(part))]); err == nil && len(b) == 1 {
			parts[i+1] = string(b) + part[2:]
		}
	}
	return strings.Join(parts, "")
}

// suggested returns the distinct words of a title that are suggested.
func suggested(title []query.Word) []string {
	var words []string
	for _, w := range title {
		if utf8.RuneCountInString(w.Text) <= longestSuggested {
			words = append(words, w.Text)
		}
	}
	return unique(words)
}

// longestSuggested is the maximum length of suggested words, in characters: longer input was pasted.
const longestSuggested = 40

package meilisearch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/classify/stem"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// An attribute is a field of a document, by the name people see.
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
	attrTitleStems attribute = "title_stems"
	attrStems      attribute = "stems"
	attrDay        attribute = "day"     // of FirstSeen, as in "2026-03-01"
	attrChanged    attribute = "changed" // microseconds
)

func names(attributes ...attribute) []string {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = string(a)
	}
	return names
}

// stemAttributes hold the words by which we search. Those in stems are of the
// title, tags, author and text, each once; those in title_stems are of the
// title, where they count for more.
var stemAttributes = []attribute{attrTitleStems, attrStems}

// A document is what Meilisearch keeps of an item, in the order in which people
// see it. Of an attribute it indexes 65,535 words, which is more than any text
// has of different ones.
type document struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Excerpt   string   `json:"excerpt,omitempty"`
	URL       string   `json:"url,omitempty"`
	Published string   `json:"published"`
	Site      string   `json:"site,omitempty"` // host of the URL: feeds are IDs, which say nothing to people
	Author    string   `json:"author,omitempty"`
	Category  []string `json:"category,omitempty"`
	Topic     []string `json:"topic,omitempty"`
	Flag      []string `json:"flag,omitempty"`
	Sentiment string   `json:"sentiment,omitempty"`
	Tags      []string `json:"tags,omitempty"`
	Language  string   `json:"language,omitempty"`
	Feed      string   `json:"feed"`
	Spam      bool     `json:"spam"`
	Duplicate bool     `json:"duplicate"`
	Image     string   `json:"image,omitempty"` // the first

	// What follows is not displayed.

	Text       string `json:"text"`
	TitleStems string `json:"title_stems"`
	Stems      string `json:"stems"`
	Day        string `json:"day"`
	Changed    int64  `json:"changed"`
}

// documentOf returns the item's document as a line of JSON.
func documentOf(it *storage.Indexed) []byte {
	title := stemsOf(it.Title)
	all := stemsOf(append(append([]string{it.Title}, it.Tags...), it.Author, it.Text)...)
	var doc bytes.Buffer
	to := json.NewEncoder(&doc)
	to.SetEscapeHTML(false)
	_ = to.Encode(document{ // strings, numbers and truth values always can be
		ID: keyOf(it.ID), Title: it.Title, Excerpt: it.Excerpt, URL: it.URL, Published: timeOf(it.Published),
		Category: it.Categories, Topic: it.Topics, Flag: it.Flags, Sentiment: storage.SentimentOf(it.Sentiment), Tags: it.Tags, Author: it.Author, Site: siteOf(it.URL),
		Language: it.Language, Feed: it.FeedID, Spam: it.Spam, Duplicate: it.DuplicateOf != "", Image: first(it.Images),
		Text: it.Text, TitleStems: strings.Join(title, " "), Stems: strings.Join(all, " "),
		Day: dayOf(it.FirstSeen), Changed: it.Changed.UnixMicro(),
	})
	return doc.Bytes()
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

// timeOf returns t, in UTC and to the microsecond, in a form that people can
// read and whose order as text is that of time.
func timeOf(t time.Time) string {
	t = t.UTC()
	if t.Year() > 9999 {
		t = time.Date(9999, 12, 31, 23, 59, 59, 999999e3, time.UTC)
	} else if t.Year() < 0 {
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t.Format("2006-01-02 15:04:05.999999")
}

func dayOf(t time.Time) string { return timeOf(t)[:len(time.DateOnly)] }

// keyOf returns the document's ID, which is the item's: [storage.ItemID]'s are
// small letters and digits. Meilisearch takes A-Z and - too, but no others, and
// orders them as if small, so all others are written as _ and two hexadecimal digits.
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

// idOf returns the ID that keyOf made a key of.
func idOf(key string) string {
	parts := strings.Split(key, "_")
	for i, part := range parts[1:] {
		if b, err := hex.DecodeString(part[:min(2, len(part))]); err == nil && len(b) == 1 {
			parts[i+1] = string(b) + part[2:]
		}
	}
	return strings.Join(parts, "")
}

// stemsOf returns the stems of the words of the texts in order of appearance,
// each once, as Meilisearch gets them.
func stemsOf(texts ...string) []string {
	var stems []string
	seen := make(map[string]bool)
	for _, s := range texts {
		for _, word := range text.Words(s) {
			stem := stem.Of(word.Text, "")
			if !seen[stem] {
				seen[stem] = true
				stems = append(stems, tokenOf(stem))
			}
		}
	}
	return stems
}

// tokenOf returns a form of the stem that Meilisearch takes for one word and
// does not change. It would split "c++" and "node.js", fold accents, and split
// Chinese into words of its own: all but plain short words become 17 letters.
func tokenOf(stem string) string {
	if utf8.RuneCountInString(stem) < 17 && (isAll(stem, 'a', 'z') || isAll(stem, 'а', 'я')) {
		return stem
	}
	sum := sha256.Sum256([]byte(stem))
	token := []byte{'q'}
	for _, b := range sum[:8] {
		token = append(token, 'a'+b>>4, 'a'+b&15)
	}
	return string(token)
}

func isAll(s string, from, to rune) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < from || r > to }) < 0
}

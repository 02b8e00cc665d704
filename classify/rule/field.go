package rule

import (
	"regexp"
	"slices"
	"strings"
)

// A Field is a part of a document.
type Field uint8

const (
	Anywhere Field = iota // the fields of [FieldInfo.Anywhere]
	Title
	Tags
	Body
	FeedTitle
	FeedTags
	Author
	URL
	Host
	Lang
	FieldCount // number of fields
)

// A FieldInfo describes a field. Checking, printing, scoring, explanations and docs/rules.md derive from it;
// package classify adds the texts of the field.
type FieldInfo struct {
	Name     string // before the colon; empty for [Anywhere]
	Doc      string
	Kinds    []Kind // of the terms that the field takes
	Worth    int    // of a term that occurs there, for a score of 1; 0: it restricts the documents, and is no evidence of their subject
	Rank     int    // order as evidence: a term counts in the field of the lowest rank in which it occurs
	Mentions bool   // it mentions many subjects, so that its points are limited
	Anywhere bool   // terms without a field occur here too

	value func(text string) (normal, wrong string) // checks a [Value]; nil: any text
}

var (
	words           = []Kind{Words, Loose, Prefix, Exact}
	wordsAndRegexps = append(slices.Clip(words), Regexp)
)

// Fields are the fields of documents, in the order of messages.
var Fields = [FieldCount]FieldInfo{
	Anywhere:  {Kinds: words, Worth: 3},
	Title:     {Name: "title", Doc: "the title", Kinds: wordsAndRegexps, Worth: 3, Rank: 10, Anywhere: true},
	Tags:      {Name: "tag", Doc: "the publisher's categories", Kinds: words, Worth: 2, Rank: 20, Anywhere: true},
	Body:      {Name: "body", Doc: "the text", Kinds: words, Worth: 1, Rank: 50, Mentions: true, Anywhere: true},
	FeedTitle: {Name: "feed", Doc: "the feed's title", Kinds: wordsAndRegexps, Worth: 1, Rank: 70, Mentions: true, Anywhere: true},
	FeedTags:  {Name: "feed-tag", Doc: "a tag that you gave the feed", Kinds: []Kind{Value}, Rank: 80},
	Author:    {Name: "author", Doc: "the author", Kinds: wordsAndRegexps, Worth: 1, Rank: 60, Mentions: true},
	URL:       {Name: "url", Doc: "the address", Kinds: wordsAndRegexps, Worth: 2, Rank: 40},
	Host:      {Name: "host", Doc: "the host of the address, or a domain above it", Kinds: []Kind{Value, Regexp}, Worth: 2, Rank: 30, value: hostValue},
	Lang:      {Name: "lang", Doc: "the language, of two letters", Kinds: []Kind{Value}, Rank: 90, value: languageValue},
}

// String returns the name of the field.
func (f Field) String() string { return Fields[f].Name }

// Takes reports whether terms of a kind can have the field.
func (f Field) Takes(k Kind) bool { return slices.Contains(Fields[f].Kinds, k) }

// FieldNamed returns the field with a name, false if there is none.
func FieldNamed(name string) (Field, bool) {
	i := slices.IndexFunc(Fields[:], func(f FieldInfo) bool { return f.Name == name })
	return Field(max(i, 0)), i > 0
}

// FieldNames returns the names of the fields that take terms of one of the kinds.
func FieldNames(kinds ...Kind) (names []string) {
	for f := Anywhere + 1; f < FieldCount; f++ {
		if slices.ContainsFunc(kinds, f.Takes) {
			names = append(names, f.String())
		}
	}
	return names
}

var (
	hostName = regexp.MustCompile(`^[\p{L}\p{N}_]([\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?(\.[\p{L}\p{N}_]([\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?)*$`)
	language = regexp.MustCompile(`^[a-z]{2}$`)
)

func hostValue(text string) (normal, wrong string) {
	if text = strings.ToLower(strings.TrimSuffix(text, ".")); !hostName.MatchString(text) {
		wrong = quote(shorten(text)) + " is not a host: use a name such as github.com, without scheme, port and path"
	}
	return text, wrong
}

func languageValue(text string) (normal, wrong string) {
	if text = strings.ToLower(text); !language.MatchString(text) {
		wrong = quote(shorten(text)) + " is not a language: use two letters, as in lang:en"
	}
	return text, wrong
}

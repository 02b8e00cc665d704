// Package interest learns from signals which items a person opens, and ranks others by it. A [Model] contains decayed
// counts of the features of items: words of titles, topics, categories and publishers. It is bounded ([MaxSize]),
// deterministic, and does no I/O. Each suggestion names the features that contributed most.
package interest

import (
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// A FeatureKind is a part of an item.
type FeatureKind uint8

// The kinds of features. Stored models contain these numbers.
const (
	Word FeatureKind = iota
	Topic
	Category
	Publisher

	featureKinds
)

// String returns the name of the kind in exports.
func (k FeatureKind) String() string {
	return [...]string{"word", "topic", "category", "publisher"}[k]
}

// A Key identifies a feature: a hash of its kind and its text, with the kind in the lowest two bits.
type Key uint64

// Kind returns the kind of the feature.
func (k Key) Kind() FeatureKind { return FeatureKind(k & 3) }

// A Feature is a property that items share.
type Feature struct {
	Key  Key
	Name string // for explanations, at most maxName bytes
}

// A Document is an item. Any field may be empty.
type Document struct {
	Title, Language    string // ISO 639-1
	Categories, Topics []string
	Feed, FeedTitle    string // ID and title
}

const (
	maxWords  = 24 // of a title
	maxLabels = 8  // categories, and as many topics
	maxName   = 30 // bytes
)

// Features returns the distinct features of a document.
func Features(d Document) []Feature {
	var list []Feature
	add := func(kind FeatureKind, text, name string) {
		f := Feature{keyOf(kind, text), shortName(name)}
		for _, other := range list {
			if other.Key == f.Key {
				return
			}
		}
		list = append(list, f)
	}
	for _, name := range d.Categories[:min(len(d.Categories), maxLabels)] {
		add(Category, name, name)
	}
	for _, name := range d.Topics[:min(len(d.Topics), maxLabels)] {
		add(Topic, name, name)
	}
	if d.Feed != "" {
		add(Publisher, d.Feed, d.FeedTitle)
	}
	words := stem.Words(d.Title, d.Language)
	if len(words) > 0 {
		written := writtenWords(d.Title, d.Language)
		for _, w := range words[:min(len(words), maxWords)] {
			name, is := written[w.Stem]
			if !is {
				name = w.Stem
			}
			add(Word, w.Stem, name)
		}
	}
	return list
}

// writtenWords returns the words of a title by their stems, as a person can read them.
func writtenWords(title, language string) map[string]string {
	words := map[string]string{}
	for word := range strings.FieldsFuncSeq(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		word = strings.ToLower(word)
		words[stem.Of(word, language)] = word
	}
	return words
}

// PublisherKey returns the key of the feature that items of a feed have, given its ID.
func PublisherKey(feed string) Key { return keyOf(Publisher, feed) }

func keyOf(kind FeatureKind, text string) Key {
	h := fnv.New64a()
	h.Write([]byte{byte(kind)})
	h.Write([]byte(text))
	return Key(h.Sum64()&^3 | uint64(kind))
}

// shortName cuts a name to maxName bytes, at a character.
func shortName(name string) string {
	name = strings.ToValidUTF8(name, "")
	if len(name) <= maxName {
		return name
	}
	cut := maxName
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut]
}

// Package query implements the search language: [Parse] turns the text that a user types into a tree of
// [Node] values, and [Matches] evaluates the tree on a [Document]. Each search engine translates the same
// tree into its own queries. The package is independent of engines, HTTP and feeds. A query has at most
// [MaxBytes] bytes and 64 conditions.
package query

import (
	"time"

	"feedmesh/classify/expression"
)

// A Node is a condition on an item: an operator or a leaf, [Text], [FieldEquals], [TimeRange] or [ItemSet]. A nil Node
// matches every item.
type Node = expression.Node

// The operators of the language.
type (
	And = expression.And // an empty And matches every item
	Or  = expression.Or  // an empty Or matches no item
	Not = expression.Not
)

// A SyntaxError reports an invalid query, its position and the remedy.
type SyntaxError = expression.SyntaxError

// Text matches if words occur, compared by stems.
type Text struct {
	In    Part
	Form  Form
	Words string // as typed, without quotes and stars; not empty
}

// A Form is the way in which words must occur.
type Form uint8

const (
	AllWords Form = iota // all of them, in any order
	Phrase               // in sequence, within one part
	Prefix               // as AllWords, but the last word is a prefix: "runnin" matches "running", although its stem is "run"
)

// FieldEquals matches if a field has exactly this value.
type FieldEquals struct {
	Field Field
	Value string
}

// ItemSet matches the items with these IDs. What belongs to a client, as "is:unread" and "label:later", is replaced by one
// before a search.
type ItemSet struct {
	Of  FieldEquals // the replaced condition; queries with different IDs print the same, so that the cursors of one are those of the other
	IDs []string
}

// A Field of an item has values that are not words.
type Field string

const (
	Feed     Field = "feed"  // ID of the feed
	Category Field = "cat"   //
	Topic    Field = "topic" // engines may ignore case
	Language Field = "lang"  // ISO 639-1
	Host     Field = "host"  // of the item's URL, without "www."; includes subdomains
	Story    Field = "story" // ID of the story
	Flag     Field = "is"    // "duplicate", "spam", one of the item's flags, or one of [Marks]
	Label    Field = "label" // given to items by the client, see [ItemSet]
)

// TimeRange matches if the item was published at or after From and before Until. A zero time is no bound.
type TimeRange struct{ From, Until time.Time }

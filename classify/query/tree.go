// Package query is the language in which items are asked for: what a person
// types ([Parse]), the tree it becomes, and whether an item is what the tree
// asks for ([Matches]). Each engine translates the same tree into its own
// queries. It knows nothing of engines, HTTP or feeds.
package query

import "time"

// A Node is a condition on an item. nil is none: every item meets it.
type Node interface {
	// String returns the condition as it can be typed. [Parse] makes the same
	// tree of it again.
	String() string

	node()
}

// And is met where all of its nodes are, as by every item if it has none.
type And []Node

// Or is met where one of its nodes is, as by no item if it has none.
type Or []Node

// Not is met where its node is not.
type Not struct{ Node Node }

// Text is met where words occur, compared by their stems.
type Text struct {
	In    Part
	Form  Form
	Words string // as typed, without quotes and stars; at least one character
}

// A Part of an item is where words are looked for.
type Part string

const (
	Anywhere Part = ""       // title, text, author or tags
	Title    Part = "title"  //
	Author   Part = "author" //
)

// A Form says how words must occur.
type Form uint8

const (
	AllWords Form = iota // all of them, in any order
	Phrase               // one after the other, in one part
	Prefix               // as AllWords, but the last may go on: "runnin" to "running", though its stem is "run"
)

// Is is met where a field has the value, in full.
type Is struct {
	Field Field
	Value string
}

// A Field of an item has values that are not words.
type Field string

const (
	Feed     Field = "feed"  // ID of the feed
	Category Field = "cat"   //
	Topic    Field = "topic" // capitals may count as small letters
	Language Field = "lang"  // ISO 639-1
	Host     Field = "host"  // of the item's address, without "www."; those below it count too
	Story    Field = "story" // ID of the story
	Flag     Field = "is"    // "duplicate", "spam", or one of the item's flags
)

// Time is met where the item was published at or after From and before Until.
// A zero time is no bound.
type Time struct{ From, Until time.Time }

func (And) node()  {}
func (Or) node()   {}
func (Not) node()  {}
func (Text) node() {}
func (Is) node()   {}
func (Time) node() {}

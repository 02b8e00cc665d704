package rule

import "fmt"

// A Rule is a condition and what follows from it.
type Rule struct {
	Pos   Pos
	Scope Scope
	Then  Then
	When  Expr
	Score float64 // what each piece of its evidence is worth, times that of the field; 1 unless written
}

// A Pos is a place in a file. Its text, "security.rules:4:12", tells a rule from all
// others of a set.
type Pos struct {
	File         string
	Line, Column int // from 1; columns are characters
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// A Scope says for which feeds or items a rule is. The zero Scope is for all.
type Scope struct {
	Kind  ScopeKind
	Value string // a feed tag, the ID of a feed, or a query as its tree prints itself
}

// The kinds of scopes.
type ScopeKind uint8

const (
	Everywhere ScopeKind = iota
	FeedTag
	Feed
	Query // of package query, for items: see [query.ParseScope]
)

// A Then is what follows where a rule's condition holds.
type Then struct {
	Do    Do
	Name  string  // of the category or fact; empty for a topic that implies none, and for all else
	Topic string  // with Conclude: may be empty
	Score float64 // with AddScore
	Text  string  // with Notify: what to say; may be empty
}

// A Do is what a rule does.
type Do uint8

const (
	Conclude   Do = iota // a category, a topic, or a topic that implies a category
	Know                 // a fact, which other rules use
	AddScore             // to the item's score, which orders lists
	Star                 // the item
	Mute                 // the item: it is kept, and shown to those only who ask for it
	Quarantine           // the item: a person decides whether it is spam
	Notify               // those who listen to events
)

// A Field is a part of a document.
type Field uint8

const (
	Anywhere Field = iota // title, the publisher's categories, body, feed
	Title
	Tags // the publisher's categories
	Body
	FeedTitle
	FeedTags
	Author
	URL
	Host
	Lang
	Fields // how many there are
)

// FieldNames are the fields as written before a colon; [Anywhere] has none.
var FieldNames = [Fields]string{
	Title: "title", Tags: "tag", Body: "body", FeedTitle: "feed", FeedTags: "feed-tag",
	Author: "author", URL: "url", Host: "host", Lang: "lang",
}

// An Expr is a condition: an [*Or], [*And], [*Not], [*AtLeast], [*Near], [*Term] or [*Fact].
type Expr interface {
	fmt.Stringer // how it is written, in its shortest form
	expr()
}

// Or holds where one of the conditions does. There are two or more, none an Or.
type Or struct{ Of []Expr }

// And holds where all of the conditions do. There are two or more, none an And.
type And struct{ Of []Expr }

// Not holds where the condition does not, which is no Not. It may stand in an Or
// or AtLeast too, but the whole condition of a rule never holds of a document that has nothing.
type Not struct{ X Expr }

// AtLeast holds where N of the conditions do, or more: 1 <= N <= len(Of).
type AtLeast struct {
	N  int
	Of []Expr
}

// Near holds where the two occur in one field with at most Within words between
// them, in either order. Both are a [*Term] that stands for words, in the same
// Field, or an [*Or] of such.
type Near struct {
	A, B   Expr
	Within int // words; 0 to 100
}

// A Term is something that occurs in a field, or does not.
type Term struct {
	Field Field
	Kind  Kind
	Text  string // without quotes and marks
	Pos   Pos
}

// A Kind says how a [Term] is compared.
type Kind uint8

const (
	Words  Kind = iota // a word or a phrase, by stems, in this order: kubernetes, "helm chart"
	Loose              // all of the words, in any order, with at most three others between them: "helm chart"~
	Prefix             // words that begin so: kube*
	Exact              // as it is written, capitals and all, between word boundaries: 'Go', 'C'
	Regexp             // a regular expression, RE2, on the text in small letters: /release v\d/; title, url, host, author, feed only
	Value              // the whole of the field, or, of a host, a domain that it is under: lang:ru, host:github.com, feed-tag:"Jobs"
)

// A Fact holds where another rule concluded it.
type Fact struct {
	Of   Of
	Name string
	Pos  Pos
}

// An Of says what a [Fact] is.
type Of uint8

const (
	Known    Of = iota // fact:name
	Category           // category:name
	Topic              // topic:name
)

func (*Or) expr()      {}
func (*And) expr()     {}
func (*Not) expr()     {}
func (*AtLeast) expr() {}
func (*Near) expr()    {}
func (*Term) expr()    {}
func (*Fact) expr()    {}

package rule

import (
	"fmt"

	"feedmesh/classify/expression"
)

// A Rule is an action and its condition.
type Rule struct {
	Pos       Pos
	Scope     Scope
	Action    Action
	Condition Expr
	Score     float64 // worth of each piece of evidence, multiplied by the worth of its field; 1 by default
}

// A Pos is a position in a file. Its text, for example "security.rules:4:12", identifies a rule within a set.
type Pos struct {
	File         string
	Line, Column int // from 1; columns count characters
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// A Scope restricts a rule to certain feeds or items. The zero Scope applies to all.
type Scope struct {
	Kind  ScopeKind
	Value string // a feed tag, a feed ID or the canonical text of a query
}

// A ScopeKind is the kind of a [Scope].
type ScopeKind uint8

const (
	Everywhere ScopeKind = iota
	FeedTag
	Feed
	Query // a query of package query, for items: see [query.ParseScope]
)

// An Action is the effect of a rule whose condition holds.
type Action struct {
	Kind  ActionKind
	Name  string  // of the category or fact; otherwise empty
	Topic string  // for Conclude; may be empty
	Score float64 // for AddScore
	Text  string  // for Notify: the message; may be empty
}

// An ActionKind is the kind of an [Action].
type ActionKind uint8

const (
	Conclude     ActionKind = iota // a category, a topic, or a topic that implies a category
	ConcludeFact                   // a fact for use by other rules
	AddScore                       // to the item's score, which orders lists
	Star                           // the item
	Mute                           // the item: it is stored, and shown only on request
	Quarantine                     // the item, until a person decides whether it is spam
	Notify                         // subscribers of the event stream
)

// An Expr is a condition: an operator, a [*Term] or a [*Fact]. [Parse] returns no operator with a single
// operand and no [And] in an And, Or in an Or, or Not in a Not. A Not may be an operand of Or and AtLeast too,
// but the whole condition of a rule never holds for an empty document. An operand of Near, with at most 100
// words between, is a Term that matches words, or an Or of such terms; all have the same Field.
type Expr = expression.Node

// The operators of conditions.
type (
	Or      = expression.Or
	And     = expression.And
	Not     = expression.Not
	AtLeast = expression.AtLeast
	Near    = expression.Near
)

// A Term holds if its text occurs in a field.
type Term struct {
	Field Field
	Kind  Kind
	Text  string // without delimiters
	Pos   Pos
}

// A Kind is the way a [Term] is compared.
type Kind uint8

const (
	Words  Kind = iota // a word or a phrase in this order, by stems: kubernetes, "helm chart"
	Loose              // all of the words in any order, with at most three others between them: "helm chart"~
	Prefix             // words with this prefix: kube*
	Exact              // the exact text, case included, between word boundaries: 'Go', 'C'
	Regexp             // a regular expression (RE2) on the lower-case text: /release v\d/
	Value              // the whole field; for a host also a parent domain: lang:ru, host:github.com, feed-tag:"Jobs"
)

// A Fact holds if another rule concluded it.
type Fact struct {
	Kind FactKind
	Name string
	Pos  Pos
}

// A FactKind is the kind of a [Fact].
type FactKind uint8

const (
	NamedFact FactKind = iota // fact:name
	Category                  // category:name
	Topic                     // topic:name
)

// matchesEmpty reports whether a condition holds for a document in which no term occurs and no fact holds.
// Written as alternatives of terms and negated terms, such a condition has an alternative of negated terms
// only.
func matchesEmpty(x Expr) bool { return expression.Holds(x, func(Expr, bool) bool { return false }) }

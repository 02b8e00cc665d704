package classify

import (
	"sync"

	"feedmesh/classify/rule"
)

// A section holds the compiled rules of one scope, so that a document pays only for the rules of its own
// feed.
//
// Matched patterns open gates, and gates make rules candidates. Conditions are not expanded into a
// disjunction of conjunctions: "5 of (ten terms)" alone would become 252 terms, while a counting gate needs
// ten inputs. Terms below ! open no gate, and near/ opens like &: a rule with such a condition is evaluated
// as a tree once its gates are open, which is rare.
type section struct {
	patterns      []pattern
	kinds         []rule.Kind                // by pattern; separate from patterns so that the values lie close together
	shown         []string                   // by pattern: as written, without field
	evidenceLinks groupedLists[evidenceLink] // by pattern: the rules it is evidence for
	gateInputs    groupedLists[gateInput]    // by pattern: the gates it is an input of
	gateTargets   groupedLists[target]       // by gate: its targets
	facts         map[int32]int32            // facts used in conditions, with their number in factTargets
	factTargets   groupedLists[target]       // by fact: its targets
	gates         []int32                    // by gate: number of inputs needed

	dictionaries []dictionary // by language, as in languages
	wordFields   fieldSet     // fields in which words are searched for
	values       map[value]int32
	regexps      []regularExpression
	pool         sync.Pool // of *sectionState
}

// A target is the number of a gate, or ^rank of a rule.
type target = int32

// A pattern is the text that a term matches, independent of the field.
type pattern struct {
	kind rule.Kind
	text string
}

// An evidenceLink makes a pattern in certain fields evidence for a rule.
type evidenceLink struct {
	rank int32 // of the rule; ^rank if the match alone makes it a candidate
	in   fieldSet
	at   uint16 // index of the term within the rule
}

// A gateInput makes a pattern in certain fields an input of a gate, or, as ^rank, makes a rule a candidate.
type gateInput struct {
	to target
	in fieldSet
}

// A value is a whole field to compare with.
type value struct {
	field rule.Field
	text  string
}

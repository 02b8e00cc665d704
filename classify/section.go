package classify

import (
	"sync"

	"feedmesh/classify/rule"
)

// A section is the rules of one scope, compiled by themselves, so that a document
// pays for the rules of its own feed only.
//
// What patterns occur decides which gates open, and through them which rules hold.
// Rules are not brought into the form of an OR of ANDs, as "5 of (ten terms)" alone
// would become 252 of these; a gate that counts its inputs does it with ten. Terms
// below ! open nothing, and near/ opens like &: a rule that has such is looked
// at as a whole when all else of it holds, which is seldom.
type section struct {
	patterns []pattern
	kinds    []rule.Kind     // of patterns; these and the next are apart, to be close together
	shown    []string        // patterns as the rules have them, without fields
	speaks   lists[speech]   // by pattern: the rules that it speaks for
	opens    lists[opening]  // by pattern: the gates that it is an input of
	leads    lists[target]   // by gate: where it leads
	facts    map[int32]int32 // what facts are asked for, as numbers for informs
	informs  lists[target]   // by these: where they lead
	gates    []int32         // how many inputs each needs

	dictionaries []dictionary // by language, as in languages
	wordy        fieldSet     // where words are looked for
	values       map[value]int32
	regexps      []expression
	pool         sync.Pool // of *matching
}

// A target is where a condition leads when it holds: a gate, or, as ^rank, a rule.
type target = int32

// A pattern is what a term looks for, wherever it does.
type pattern struct {
	kind rule.Kind
	text string
}

// A speech says that a pattern in one of some fields is evidence for a rule.
type speech struct {
	rank int32 // of the rule; ^rank if nothing else need hold
	in   fieldSet
	at   uint16 // which of the rule's terms it is
}

// An opening says that a pattern in one of some fields is an input of a gate, or,
// as ^rank, all that a rule needs.
type opening struct {
	to target
	in fieldSet
}

// A value is what the whole of a field may be.
type value struct {
	field rule.Field
	text  string
}

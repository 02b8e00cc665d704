package classify

import (
	"sync"

	"feedmesh/classify/rule"
)

// Rules are a compiled rule set. They are immutable and safe for concurrent use.
type Rules struct {
	rules      []compiled // in the order of the set
	residuals  []residual
	infos      []ruleInfo // by rule
	order      []int32    // rules by rank: each after those it depends on
	labels     []label    // by name, a category before a topic
	facts      []string   // facts used in conditions, as written
	sections   []*section
	scopes     map[rule.Scope]int32 // section numbers
	queries    []scopeQuery         // the scopes that are queries
	wordFields fieldSet             // of all sections
	pool       sync.Pool            // of *evaluation
}

// A compiled rule is an action and the parts of its condition that gates do not cover. It takes 32 bytes: of
// 10,000 rules the matching ones are rarely in the processor's cache.
type compiled struct {
	score    points // of Conclude for each piece of evidence, of AddScore once
	section  int32
	category int32 // label, or -1
	topic    int32 // label, or -1
	fact     int32 // that it concludes and others depend on, or -1
	residual int32 // index in Rules.residuals, or -1
	action   rule.ActionKind
}

// A residual is the part of a condition that few rules have: facts as evidence, and a tree that gates cannot
// decide.
type residual struct {
	facts     []int32    // evidence for the rule, in the order of the text
	condition *condition // nil: gates are sufficient
}

// A ruleInfo holds the data for explanations. It is separate because most rules never need it.
type ruleInfo struct {
	place string // "devops.rules:4"
	text  string // of Notify
}

// A label is a category or topic that rules conclude.
type label struct {
	topic bool
	name  string
	fact  int32 // that rules depend on, or -1
}

package classify

import (
	"sync"

	"feedmesh/classify/rule"
)

// Rules say what documents are about, and what is to become of them. They do not
// change and may be used concurrently.
type Rules struct {
	rules    []compiled // in the order of the set
	rests    []rest
	notes    []note   // by rule
	order    []int32  // rules by rank: each after those that it needs
	labels   []label  // by name, a category before a topic
	facts    []string // those that are asked for, as written
	sections []*section
	scopes   map[rule.Scope]int32 // sections
	queries  []scopeQuery         // those scopes that are queries
	wordy    fieldSet             // of all sections
	pool     sync.Pool            // of *firing
}

// A compiled rule is what is done when its condition holds. It takes 32 bytes: of
// 10,000 rules those that fire are seldom in the processor's cache.
type compiled struct {
	score    points // of Conclude for each piece of evidence, of AddScore once
	section  int32
	category int32 // label, or -1
	topic    int32 // label, or -1
	fact     int32 // that it concludes and others ask for, or -1
	rest     int32 // of its condition, in rests, or -1
	does     rule.Do
}

// A rest is what few rules have: more than terms one of which is enough.
type rest struct {
	facts     []int32    // that speak for the rule, in the order of the text
	condition *condition // what gates alone cannot tell, or nil
}

// A note is what is said of a rule, which is apart as most rules never need it.
type note struct {
	place string // "devops.rules:4"
	text  string // of Notify
}

// A label is a category or topic that rules conclude.
type label struct {
	topic bool
	name  string
	fact  int32 // that rules ask for, or -1
}

package classify

import (
	"math/bits"
	"slices"

	"feedmesh/classify/query"
	"feedmesh/classify/rule"
)

// Evaluate returns the rules that match a document and their effects. Equal documents get equal outcomes. The
// cost depends on the document's words and their matches, not on the number of rules.
func (r *Rules) Evaluate(d Document) Outcome {
	f := r.pool.Get().(*evaluation)
	f.begin(&d)
	for _, m := range f.active {
		for i := range f.segments {
			m.matchSegment(f.segments, i)
		}
		m.matchFields(&f.fields)
		m.openGates(f)
	}
	for rank := f.candidates.next(0); rank >= 0; rank = f.candidates.next(rank) {
		f.evaluateRule(rank)
	}
	o := f.outcome()
	f.end()
	r.pool.Put(f)
	return o
}

// An evaluation is the working memory for one document. It is reused through a pool, like [sectionState].
type evaluation struct {
	rules    *Rules
	stamp    uint32
	language string
	fields
	active     []*sectionState // of the sections that apply to the document
	sections   []*sectionState // the same, by section; other entries are stale
	candidates candidateSet
	facts      []uint32      // by fact: the stamp of the last document for which it held
	sums       []labelSum    // by label
	scored     []int32       // labels that have points
	hitLists   []hitList     // by rank: the hits of a rule
	allHits    []hit         // hits of all rules, as linked lists
	ruleHits   []hit         // buffer for the hits of the current rule
	matched    []matchedRule // in the order of evaluation
	evidence   []evidenceRef // of all matched rules, one after another
	ranking    []uint64      // buffer for sorting labels
}

// A labelSum adds up the points of a label.
type labelSum struct {
	stamp  uint32
	strong points
	body   points
	best   [3]int32 // indexes in matched of the rules that gave most
	n      int
}

func (s *labelSum) total() points { return s.strong + min(s.body, maxBody) }

// A matchedRule is a rule whose condition holds.
type matchedRule struct {
	rule        int32
	evidenceEnd int32 // end of its part of evaluation.evidence
	points      points
}

func newEvaluation(r *Rules) *evaluation {
	return &evaluation{
		rules:      r,
		candidates: make(candidateSet, (len(r.rules)+63)/64),
		facts:      make([]uint32, len(r.facts)),
		sections:   make([]*sectionState, len(r.sections)),
		hitLists:   make([]hitList, len(r.rules)),
		sums:       make([]labelSum, len(r.labels)),
	}
}

// begin prepares the evaluation for a document.
func (f *evaluation) begin(d *Document) {
	if f.stamp++; f.stamp == 0 { // the stamp wraps after 4 billion documents
		clear(f.facts)
		clear(f.sums)
		clear(f.hitLists)
		f.stamp = 1
	}
	f.language = d.Language
	f.fields.read(d, f.rules.wordFields)
	f.activateScope(rule.Scope{})
	f.activateScope(rule.Scope{Kind: rule.Feed, Value: d.FeedID})
	for _, tag := range d.FeedTags {
		f.activateScope(rule.Scope{Kind: rule.FeedTag, Value: folded(tag)})
	}
	f.activateQueries(d)
}

// activateScope activates the section of a scope if the set has one.
func (f *evaluation) activateScope(scope rule.Scope) {
	if n, ok := f.rules.scopes[scope]; ok {
		f.activateSection(n)
	}
}

// activateQueries activates the sections whose query matches the document.
func (f *evaluation) activateQueries(d *Document) {
	if len(f.rules.queries) == 0 {
		return
	}
	document := d.queryDocument()
	for _, q := range f.rules.queries {
		if query.Matches(q.where, document) {
			f.activateSection(q.section)
		}
	}
}

// activateSection adds a section to the evaluation, once.
func (f *evaluation) activateSection(n int32) {
	if slices.ContainsFunc(f.active, func(m *sectionState) bool { return m.section == f.rules.sections[n] }) {
		return
	}
	m := f.rules.sections[n].pool.Get().(*sectionState)
	m.begin(languageIndex(f.language))
	f.active = append(f.active, m)
	f.sections[n] = m
}

// end releases all references to the document, so that the pool does not keep it in memory.
func (f *evaluation) end() {
	for _, m := range f.active {
		m.section.pool.Put(m)
	}
	clear(f.active)
	clear(f.segments)
	f.active = f.active[:0]
	f.fields = fields{values: f.values[:0], segments: f.segments[:0]}
	f.scored, f.allHits, f.matched, f.evidence = f.scored[:0], f.allHits[:0], f.matched[:0], f.evidence[:0]
}

// evaluateRule evaluates a rule whose gates are all open, and applies its action if the condition holds.
func (f *evaluation) evaluateRule(rank int32) {
	i := f.rules.order[rank]
	r := &f.rules.rules[i]
	m := f.sections[r.section]
	var facts []int32
	if r.residual >= 0 {
		rest := &f.rules.residuals[r.residual]
		if rest.condition != nil && !f.holds(m, rest.condition) {
			return
		}
		facts = rest.facts
	}
	f.collectHits(rank, m)
	strong, body := f.scoreHits(r.score)
	f.addEvidence(facts)
	n := int32(len(f.matched))
	added := points(0)
	switch r.action {
	case rule.Conclude:
		added = strong + body
	case rule.AddScore:
		added = r.score
	}
	f.matched = append(f.matched, matchedRule{i, int32(len(f.evidence)), added})
	f.addPoints(r.category, strong, body, n)
	f.addPoints(r.topic, strong, body, n)
	f.setFact(r.fact)
}

// addPoints adds the points of a rule to a label. When the label reaches the threshold, rules that depend on
// it become candidates.
func (f *evaluation) addPoints(n int32, strong, body points, match int32) {
	if n < 0 {
		return
	}
	s := &f.sums[n]
	if s.stamp != f.stamp {
		*s = labelSum{stamp: f.stamp}
		f.scored = append(f.scored, n)
	}
	s.strong += strong
	s.body += body
	f.rankMatch(s, match)
	if s.total() >= pointsOf(Threshold) {
		f.setFact(f.rules.labels[n].fact)
	}
}

// rankMatch inserts a match among the label's largest contributions; of equal contributions the first in the
// set wins.
func (f *evaluation) rankMatch(s *labelSum, n int32) {
	at := s.n
	for at > 0 && f.outweighs(n, s.best[at-1]) {
		at--
	}
	if at == len(s.best) {
		return
	}
	s.n = min(s.n+1, len(s.best))
	copy(s.best[at+1:s.n], s.best[at:])
	s.best[at] = n
}

func (f *evaluation) outweighs(a, b int32) bool {
	x, y := &f.matched[a], &f.matched[b]
	return x.points > y.points || x.points == y.points && x.rule < y.rule
}

// setFact marks a fact as holding and makes candidates of rules with a higher rank that depend on it.
func (f *evaluation) setFact(fact int32) {
	if fact < 0 || f.facts[fact] == f.stamp {
		return
	}
	f.facts[fact] = f.stamp
	for _, m := range f.active {
		if n, ok := m.section.facts[fact]; ok {
			for _, to := range m.factTargets.of(n) {
				m.signal(to, &f.candidates)
			}
		}
	}
}

// A candidateSet is a bitmap of the rules still to be evaluated, by rank.
type candidateSet []uint64

func (a candidateSet) add(rank int32) { a[rank/64] |= 1 << (rank % 64) }

// next removes and returns the first candidate whose rank is at least from, or returns -1. Evaluating a rule
// adds only candidates of a higher rank.
func (a candidateSet) next(from int32) int32 {
	for i := int(from / 64); i < len(a); i++ {
		if a[i] != 0 {
			bit := bits.TrailingZeros64(a[i])
			a[i] &^= 1 << bit
			return int32(i*64 + bit)
		}
	}
	return -1
}

// A hit is a term of a rule that occurs, with its best field.
type hit struct {
	pattern   int32
	next      int32 // index in allHits of the rule's next hit, or -1
	at        uint16
	fieldRank uint8
}

// A hitList is the head of a rule's linked list in allHits.
type hitList struct {
	stamp uint32
	first int32
}

// An evidenceRef is a pattern with its field, or ^fact.
type evidenceRef struct {
	pattern   int32
	fieldRank uint8
}

package classify

import (
	"slices"

	"feedmesh/classify/rule"
)

// Fire returns what the rules say of a document. Equal documents get equal
// outcomes. Its cost is that of the document's words and of what they lead to, not
// of the rules there are.
func (r *Rules) Fire(d Document) Outcome {
	f := r.pool.Get().(*firing)
	f.begin(&d)
	for _, m := range f.active {
		for i := range f.segments {
			m.read(f.segments, i)
		}
		m.look(&f.fields)
		m.open(f)
	}
	for rank := f.agenda.next(0); rank >= 0; rank = f.agenda.next(rank) {
		f.try(rank)
	}
	o := f.outcome()
	f.end()
	r.pool.Put(f)
	return o
}

// A firing is what a document needs while rules fire. It serves one after
// another, as a [matching] does.
type firing struct {
	rules     *Rules
	stamp     uint32
	language  string
	segments  []segment
	fields    fields
	active    []*matching // of the sections that are for the document's feed
	matchings []*matching // the same, by section; those of others are of earlier documents
	agenda    agenda
	facts     []uint32 // stamps
	sums      []sum    // by label
	given     []int32  // labels that have one
	heard     []heard  // by rank: what speaks for a rule
	spoken    []hit    // all that speaks for rules
	hits      []hit    // what speaks for the rule at hand
	fired     []fired  // in the order of evaluation
	proofs    []proof  // of all that fired, one after another
	ranking   []uint64
}

// A sum is what rules gave a label.
type sum struct {
	stamp  uint32
	strong points
	body   points
	best   [3]int32 // places in fired of what gave most
	n      int
}

func (s *sum) total() points { return s.strong + min(s.body, maxBody) }

// fired is a rule that holds.
type fired struct {
	rule   int32
	proofs int32 // where its part of these ends
	points points
}

func newFiring(r *Rules) *firing {
	return &firing{
		rules:     r,
		agenda:    make(agenda, (len(r.rules)+63)/64),
		facts:     make([]uint32, len(r.facts)),
		matchings: make([]*matching, len(r.sections)),
		heard:     make([]heard, len(r.rules)),
		sums:      make([]sum, len(r.labels)),
	}
}

// begin makes it ready for a document.
func (f *firing) begin(d *Document) {
	if f.stamp++; f.stamp == 0 { // after 4 billion documents
		clear(f.facts)
		clear(f.sums)
		clear(f.heard)
		f.stamp = 1
	}
	f.language = d.Language
	f.segments = appendSegments(f.segments, d, f.rules.wordy)
	f.fields.fill(d)
	f.activate(rule.Scope{})
	f.activate(rule.Scope{Kind: rule.Feed, Value: d.FeedID})
	for _, tag := range d.FeedTags {
		f.activate(rule.Scope{Kind: rule.FeedTag, Value: folded(tag)})
	}
	f.ask(d)
}

// activate lets the section of a scope take part, if there is one.
func (f *firing) activate(scope rule.Scope) {
	if n, ok := f.rules.scopes[scope]; ok {
		f.join(n)
	}
}

// join lets a section take part, once.
func (f *firing) join(n int32) {
	if slices.ContainsFunc(f.active, func(m *matching) bool { return m.section == f.rules.sections[n] }) {
		return
	}
	m := f.rules.sections[n].pool.Get().(*matching)
	m.begin(languageIndex(f.language))
	f.active = append(f.active, m)
	f.matchings[n] = m
}

// end lets go of the document, of which nothing must stay in memory.
func (f *firing) end() {
	for _, m := range f.active {
		m.section.pool.Put(m)
	}
	clear(f.active)
	clear(f.segments)
	f.active, f.segments = f.active[:0], f.segments[:0]
	f.fields = fields{values: f.fields.values[:0]}
	f.given, f.spoken, f.fired, f.proofs = f.given[:0], f.spoken[:0], f.fired[:0], f.proofs[:0]
}

// try looks at a rule all of whose gates are open, and does what it says if its
// condition holds.
func (f *firing) try(rank int32) {
	i := f.rules.order[rank]
	r := &f.rules.rules[i]
	m := f.matchings[r.section]
	var facts []int32
	if r.rest >= 0 {
		rest := &f.rules.rests[r.rest]
		if rest.condition != nil && !f.meets(m, rest.condition) {
			return
		}
		facts = rest.facts
	}
	f.collect(rank, m)
	strong, body := f.weigh(r.score)
	f.prove(facts)
	n := int32(len(f.fired))
	given := points(0)
	switch r.does {
	case rule.Conclude:
		given = strong + body
	case rule.AddScore:
		given = r.score
	}
	f.fired = append(f.fired, fired{i, int32(len(f.proofs)), given})
	f.give(r.category, strong, body, n)
	f.give(r.topic, strong, body, n)
	f.know(r.fact)
}

// give adds the points of a rule to a label, and lets the rules go on that ask
// for it.
func (f *firing) give(n int32, strong, body points, fired int32) {
	if n < 0 {
		return
	}
	s := &f.sums[n]
	if s.stamp != f.stamp {
		*s = sum{stamp: f.stamp}
		f.given = append(f.given, n)
	}
	s.strong += strong
	s.body += body
	f.rankReason(s, fired)
	if s.total() >= pointsOf(Threshold) {
		f.know(f.rules.labels[n].fact)
	}
}

// rankReason keeps what gave a label most, of equals what stands first in the set.
func (f *firing) rankReason(s *sum, n int32) {
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

func (f *firing) outweighs(a, b int32) bool {
	x, y := &f.fired[a], &f.fired[b]
	return x.points > y.points || x.points == y.points && x.rule < y.rule
}

// know makes a fact known, which may make rules candidates that come later.
func (f *firing) know(fact int32) {
	if fact < 0 || f.facts[fact] == f.stamp {
		return
	}
	f.facts[fact] = f.stamp
	for _, m := range f.active {
		if n, ok := m.section.facts[fact]; ok {
			for _, to := range m.informs.of(n) {
				m.lead(to, &f.agenda)
			}
		}
	}
}

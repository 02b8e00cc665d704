package classify

import (
	"slices"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// A segment is a text in which words are searched for: a field, or one tag of several, because a phrase must
// not span two tags.
type segment struct {
	field rule.Field
	text  string
	words []stem.Word
}

// A sectionState holds the matches of a document in one section. It is reused from document to document
// through the section's pool: touched entries are cleared, and entries with an older stamp count as unset.
type sectionState struct {
	*section
	words *dictionary
	stamp uint32

	stems        []int32        // of all segments in sequence; -1: not in the dictionary
	starts       []int          // start of each segment in stems
	states       []patternState // by pattern
	gates        []counter      // by gate
	touched      []int32        // patterns
	unverified   []int32        // patterns of the current segment that need verification
	seenIn       []uint32       // by stem: stamp of the last segment that contained it
	segmentStamp uint32
	counted      []uint32 // by pattern: stamp of the last rule that counted it
	countStamp   uint32
}

// A patternState stores where a pattern was found. It is small, so that more entries fit in the processor's
// cache: a document accesses them in random order.
type patternState struct {
	in           fieldSet
	unverifiedIn uint16 // the last segment in which verification was requested, from 1
}

type counter struct {
	stamp uint32
	left  int32
}

func newSectionState(s *section) *sectionState {
	return &sectionState{
		section: s,
		states:  make([]patternState, len(s.patterns)),
		gates:   make([]counter, len(s.gates)),
		counted: make([]uint32, len(s.patterns)),
	}
}

// begin prepares the state for the next document.
func (m *sectionState) begin(language int) {
	if d := m.section.dictionary(language); d != m.words {
		m.words, m.seenIn = d, make([]uint32, d.stems.Len())
	}
	if m.stamp++; m.stamp == 0 { // the stamp wraps after 4 billion documents
		clear(m.gates)
		m.stamp = 1
	}
	for _, p := range m.touched {
		m.states[p] = patternState{}
	}
	m.stems, m.starts, m.touched = m.stems[:0], m.starts[:0], m.touched[:0]
}

// matchSegment finds the word patterns of the next segment, segments[i].
func (m *sectionState) matchSegment(segments []segment, i int) {
	m.starts = append(m.starts, len(m.stems))
	s := &segments[i]
	if !m.wordFields.has(s.field) {
		return
	}
	m.unverified = m.unverified[:0]
	if m.segmentStamp++; m.segmentStamp == 0 {
		clear(m.seenIn)
		m.segmentStamp = 1
	}
	for _, w := range s.words {
		m.stems = append(m.stems, m.stemID(w.Stem, s.field, i))
	}
	d := m.words
	stems := m.stemsOf(i)
	for at, node := range stems {
		if node < 0 {
			continue
		}
		m.noteMatches(node, s.field, i)
		for next := at + 1; d.hasBranches[node] && next < len(stems) && stems[next] >= 0; next++ {
			b := branch{node, stems[next]}
			if !d.filter.has(b) {
				break
			}
			var ok bool
			if node, ok = d.branches[b]; !ok {
				break
			}
			m.noteMatches(node, s.field, i)
		}
	}
	for _, p := range d.stopOnly {
		m.noteMatch(p, s.field, i)
	}
	for _, p := range m.unverified {
		if m.occurs(p, s, stems) {
			m.states[p].in |= fieldSets[s.field]
		}
	}
}

// stemID returns the number of a stem, or -1 if it is not in the dictionary. In that case it matches the stem
// against the prefixes.
func (m *sectionState) stemID(text string, f rule.Field, segment int) int32 {
	if id := m.words.stems.Find(text); id >= 0 {
		if len(m.words.loose) > 0 {
			m.seenIn[id] = m.segmentStamp
		}
		return id
	}
	if len(m.words.prefixes) > 0 {
		for p := m.words.longest(text); p >= 0; p = m.words.prefixes[p].shorter {
			m.noteMatch(m.words.prefixes[p].pattern, f, segment)
		}
	}
	return -1
}

// stemsOf returns the stem numbers of a segment that was matched.
func (m *sectionState) stemsOf(segment int) []int32 {
	end := len(m.stems)
	if segment+1 < len(m.starts) {
		end = m.starts[segment+1]
	}
	return m.stems[m.starts[segment]:end]
}

func (m *sectionState) noteMatches(node int32, f rule.Field, segment int) {
	for _, p := range m.words.found.of(node) {
		m.noteMatch(p, f, segment)
	}
}

// noteMatch records that a pattern occurs in a field. Exact and loose patterns are queued for verification
// instead.
func (m *sectionState) noteMatch(p int32, f rule.Field, segment int) {
	s := m.state(p)
	if s.in.has(f) {
		return
	}
	switch m.kinds[p] {
	case rule.Exact, rule.Loose:
		if s.unverifiedIn != uint16(segment+1) {
			s.unverifiedIn = uint16(segment + 1)
			m.unverified = append(m.unverified, p)
		}
	default:
		s.in |= fieldSets[f]
	}
}

// state returns the mutable state of a pattern.
func (m *sectionState) state(p int32) *patternState {
	s := &m.states[p]
	if *s == (patternState{}) {
		m.touched = append(m.touched, p)
	}
	return s
}

// occurs verifies that a pattern whose stems occur in a segment matches there.
func (m *sectionState) occurs(p int32, s *segment, stems []int32) bool {
	if m.kinds[p] == rule.Exact {
		return occursExactly(s.text, m.patterns[p].text)
	}
	loose := m.words.loose[p]
	for _, id := range loose.stems {
		if m.seenIn[id] != m.segmentStamp {
			return false
		}
	}
	return isLoose(loose, s.words, stems)
}

// isLoose reports whether a window of the phrase's width contains all its stems.
func isLoose(p phrase, words []stem.Word, stems []int32) bool {
	var few [16]int
	counts, missing := few[:0], len(p.stems) // of the stems in the window
	counts = slices.Grow(counts, missing)[:missing]
	first := 0 // of the window
	for last, id := range stems {
		at, ok := slices.BinarySearch(p.stems, id)
		if !ok {
			continue
		}
		if counts[at]++; counts[at] == 1 {
			missing--
		}
		for ; words[last].Pos-words[first].Pos >= p.width; first++ {
			if at, ok := slices.BinarySearch(p.stems, stems[first]); ok {
				if counts[at]--; counts[at] == 0 {
					missing++
				}
			}
		}
		if missing == 0 {
			return true
		}
	}
	return false
}

// matchFields matches whole-field values and regular expressions.
func (m *sectionState) matchFields(f *fields) {
	if len(m.values) > 0 {
		for _, v := range f.values {
			if p, ok := m.values[v]; ok {
				m.state(p).in |= fieldSets[v.field]
			}
		}
	}
	for i := range m.regexps {
		e := &m.regexps[i]
		if e.matches(f.searched[e.field]) {
			m.state(e.pattern).in |= fieldSets[e.field]
		}
	}
}

// openGates registers the evidence of all matched patterns and signals their gates.
func (m *sectionState) openGates(f *evaluation) {
	for _, p := range m.touched {
		in := m.states[p].in
		for _, s := range m.evidenceLinks.of(p) {
			if s.in&in == 0 {
				continue
			}
			rank := s.rank
			if rank < 0 {
				rank = ^rank
				f.candidates.add(rank)
			}
			f.addHit(rank, hit{pattern: p, at: s.at, fieldRank: uint8((s.in & in).best())})
		}
		for _, o := range m.gateInputs.of(p) {
			if o.in&in != 0 {
				m.signal(o.to, &f.candidates)
			}
		}
	}
}

// signal counts down the inputs of a gate, or makes a rule a candidate. An open gate signals its own targets.
func (m *sectionState) signal(to target, a *candidateSet) {
	if to < 0 {
		a.add(^to)
		return
	}
	g := &m.gates[to]
	if g.stamp != m.stamp {
		*g = counter{m.stamp, m.section.gates[to]}
	}
	if g.left--; g.left == 0 {
		for _, next := range m.gateTargets.of(to) {
			m.signal(next, a)
		}
	}
}

// fieldsOf returns those of the given fields in which a pattern occurs.
func (m *sectionState) fieldsOf(pattern int32, fields fieldSet) fieldSet {
	return m.states[pattern].in & fields
}

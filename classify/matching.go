package classify

import (
	"slices"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// A segment is a text that words are looked for in: a field, or one of several
// tags, as no phrase begins in one tag and ends in the next.
type segment struct {
	field rule.Field
	text  string
	words []stem.Word
}

// A matching is what a document has of a section. It serves one document after
// another: what was touched is cleared, what bears the stamp of an earlier one
// counts as never set.
type matching struct {
	*section
	words *dictionary
	stamp uint32

	stems    []int32   // of all segments, one after another; -1 are not in the dictionary
	starts   []int     // of segments, in stems
	states   []state   // by pattern
	gates    []counter // by gate
	touched  []int32   // patterns
	doubted  []int32   // patterns that the segment at hand may have
	met      []uint32  // by stem: the last segment it was in, as a count that goes on from document to document
	meeting  uint32
	chosen   []uint32 // by pattern: the last rule that it counted for, as another such count
	choosing uint32
}

// A state says where a pattern was found. It is small, as a document meets them in
// no order: then more of them stay in the processor's cache.
type state struct {
	in      fieldSet
	doubted uint16 // the segment in which it was doubted last, from 1
}

type counter struct {
	stamp uint32
	left  int32
}

func newMatching(s *section) *matching {
	return &matching{
		section: s,
		states:  make([]state, len(s.patterns)),
		gates:   make([]counter, len(s.gates)),
		chosen:  make([]uint32, len(s.patterns)),
	}
}

// begin makes it ready for the next document.
func (m *matching) begin(language int) {
	if d := m.section.dictionary(language); d != m.words {
		m.words, m.met = d, make([]uint32, d.stems.Len())
	}
	if m.stamp++; m.stamp == 0 { // after 4 billion documents
		clear(m.gates)
		m.stamp = 1
	}
	for _, p := range m.touched {
		m.states[p] = state{}
	}
	m.stems, m.starts, m.touched = m.stems[:0], m.starts[:0], m.touched[:0]
}

// read finds the patterns of words in the next segment, segments[i].
func (m *matching) read(segments []segment, i int) {
	m.starts = append(m.starts, len(m.stems))
	s := &segments[i]
	if !m.wordy.has(s.field) {
		return
	}
	m.doubted = m.doubted[:0]
	if m.meeting++; m.meeting == 0 {
		clear(m.met)
		m.meeting = 1
	}
	for _, w := range s.words {
		m.stems = append(m.stems, m.stem(w.Stem, s.field, i))
	}
	d := m.words
	stems := m.stemsOf(i)
	for at, node := range stems {
		if node < 0 {
			continue
		}
		m.findAll(node, s.field, i)
		for next := at + 1; d.deeper[node] && next < len(stems) && stems[next] >= 0; next++ {
			b := branch{node, stems[next]}
			if !d.likely.has(b) {
				break
			}
			var ok bool
			if node, ok = d.branches[b]; !ok {
				break
			}
			m.findAll(node, s.field, i)
		}
	}
	for _, p := range d.bare {
		m.find(p, s.field, i)
	}
	for _, p := range m.doubted {
		if m.occurs(p, s, stems) {
			m.states[p].in |= fieldSets[s.field]
		}
	}
}

// stem returns the number of a stem, or -1 if it is not in the dictionary: then
// it may still begin with a prefix.
func (m *matching) stem(text string, f rule.Field, segment int) int32 {
	if id := m.words.stems.Find(text); id >= 0 {
		if len(m.words.loose) > 0 {
			m.met[id] = m.meeting
		}
		return id
	}
	if len(m.words.prefixes) > 0 {
		for p := m.words.longest(text); p >= 0; p = m.words.prefixes[p].shorter {
			m.find(m.words.prefixes[p].pattern, f, segment)
		}
	}
	return -1
}

// stemsOf returns the numbers of the stems of the segment read last, or of one
// before it.
func (m *matching) stemsOf(segment int) []int32 {
	end := len(m.stems)
	if segment+1 < len(m.starts) {
		end = m.starts[segment+1]
	}
	return m.stems[m.starts[segment]:end]
}

func (m *matching) findAll(node int32, f rule.Field, segment int) {
	for _, p := range m.words.found.of(node) {
		m.find(p, f, segment)
	}
}

// find notes that a pattern occurs in a field, or may occur in a segment of it.
func (m *matching) find(p int32, f rule.Field, segment int) {
	s := m.state(p)
	if s.in.has(f) {
		return
	}
	switch m.kinds[p] {
	case rule.Exact, rule.Loose:
		if s.doubted != uint16(segment+1) {
			s.doubted = uint16(segment + 1)
			m.doubted = append(m.doubted, p)
		}
	default:
		s.in |= fieldSets[f]
	}
}

// state returns that of a pattern, to be changed.
func (m *matching) state(p int32) *state {
	s := &m.states[p]
	if *s == (state{}) {
		m.touched = append(m.touched, p)
	}
	return s
}

// occurs reports whether a pattern whose stems a segment has does occur in it.
func (m *matching) occurs(p int32, s *segment, stems []int32) bool {
	if m.kinds[p] == rule.Exact {
		return isWritten(s.text, m.patterns[p].text)
	}
	loose := m.words.loose[p]
	for _, id := range loose.stems {
		if m.met[id] != m.meeting {
			return false
		}
	}
	return isLoose(loose, s.words, stems)
}

// isLoose reports whether a window of the phrase's width has all of its stems.
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

// look finds what the whole of a field may be, and what regular expressions
// look for.
func (m *matching) look(f *fields) {
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

// open lets all that occurs speak for rules, and open gates.
func (m *matching) open(f *firing) {
	for _, p := range m.touched {
		in := m.states[p].in
		for _, s := range m.speaks.of(p) {
			if s.in&in == 0 {
				continue
			}
			rank := s.rank
			if rank < 0 {
				rank = ^rank
				f.agenda.add(rank)
			}
			f.hear(rank, hit{pattern: p, at: s.at, place: uint8((s.in & in).best())})
		}
		for _, o := range m.opens.of(p) {
			if o.in&in != 0 {
				m.lead(o.to, &f.agenda)
			}
		}
	}
}

// lead follows an input to its target.
func (m *matching) lead(to target, a *agenda) {
	if to < 0 {
		a.add(^to)
		return
	}
	g := &m.gates[to]
	if g.stamp != m.stamp {
		*g = counter{m.stamp, m.section.gates[to]}
	}
	if g.left--; g.left == 0 {
		for _, next := range m.leads.of(to) {
			m.lead(next, a)
		}
	}
}

// in returns those of some fields that a pattern is in.
func (m *matching) in(pattern int32, fields fieldSet) fieldSet {
	return m.states[pattern].in & fields
}

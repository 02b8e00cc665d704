package classify

import (
	"slices"
	"strings"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// holds evaluates a condition.
func (f *evaluation) holds(m *sectionState, c *condition) bool {
	switch c.kind {
	case occurs:
		return m.fieldsOf(c.pattern, c.in) != 0
	case factHolds:
		return f.facts[c.fact] == f.stamp
	case negated:
		return !f.holds(m, &c.parts[0])
	case near:
		return f.isNear(m, c.near)
	}
	need := c.need
	for i := range c.parts {
		if len(c.parts)-i < need {
			return false
		}
		if f.holds(m, &c.parts[i]) {
			if need--; need == 0 {
				return true
			}
		}
	}
	return false
}

// A span is the word positions [first, last] of a match, as [stem.Word] counts them.
type span struct{ first, last int }

// isNear reports whether both operands occur in one segment within the distance.
func (f *evaluation) isNear(m *sectionState, n *nearness) bool {
	for i := range f.segments {
		s := &f.segments[i]
		if !n.in.has(s.field) || !m.anyIn(n.a, s.field) || !m.anyIn(n.b, s.field) {
			continue
		}
		if anyWithin(f.spans(m, n.a, i), f.spans(m, n.b, i), n.within) {
			return true
		}
	}
	return false
}

// anyWithin reports whether a span of each list have at most within words between them; overlapping spans do
// not count. O(n log n), because texts may be long.
func anyWithin(as, bs []span, within int) bool {
	firsts, lasts := make([]int, len(bs)), make([]int, len(bs))
	for i, b := range bs {
		firsts[i], lasts[i] = b.first, b.last
	}
	slices.Sort(firsts)
	slices.Sort(lasts)
	for _, a := range as {
		if next, _ := slices.BinarySearch(firsts, a.last+1); next < len(firsts) && firsts[next]-a.last-1 <= within {
			return true
		}
		if before, _ := slices.BinarySearch(lasts, a.first); before > 0 && a.first-lasts[before-1]-1 <= within {
			return true
		}
	}
	return false
}

// anyIn reports whether one of the patterns occurs in a field.
func (m *sectionState) anyIn(patterns []int32, f rule.Field) bool {
	return slices.ContainsFunc(patterns, func(p int32) bool { return m.fieldsOf(p, fieldSets[f]) != 0 })
}

// spans returns the occurrences of patterns in a segment.
func (f *evaluation) spans(m *sectionState, patterns []int32, segment int) []span {
	s := &f.segments[segment]
	var list []span
	for _, n := range patterns {
		if m.fieldsOf(n, fieldSets[s.field]) == 0 {
			continue
		}
		switch p := &m.patterns[n]; p.kind {
		case rule.Prefix:
			list = append(list, prefixSpans(s, p.text, f.language)...)
		case rule.Exact:
			list = append(list, exactSpans(s, p.text, f.language)...)
		default:
			list = append(list, phraseSpans(s, m.words.phrases.of(n), m.stemsOf(segment))...)
		}
	}
	return list
}

func phraseSpans(s *segment, phrase, stems []int32) []span {
	var list []span
	for i := 0; len(phrase) > 0 && i+len(phrase) <= len(stems); i++ {
		if slices.Equal(stems[i:i+len(phrase)], phrase) {
			list = append(list, span{s.words[i].Pos, s.words[i+len(phrase)-1].Pos})
		}
	}
	return list
}

func prefixSpans(s *segment, text, language string) []span {
	begin, same := foldedWord(text), stem.Stems(text, language)
	var list []span
	for _, w := range s.words {
		if strings.HasPrefix(w.Stem, begin) || len(same) == 1 && w.Stem == same[0] {
			list = append(list, span{w.Pos, w.Pos})
		}
	}
	return list
}

// exactSpans counts the words before each occurrence. This is slow, but runs only if the rest of the rule
// holds.
func exactSpans(s *segment, text, language string) []span {
	width := max(stem.CountWords(text, language), 1)
	var list []span
	counted, words := 0, 0
	for at := range occurrences(s.text, text) {
		words += stem.CountWords(s.text[counted:at], language)
		counted = at
		list = append(list, span{words, words + width - 1})
	}
	return list
}

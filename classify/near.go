package classify

import (
	"slices"
	"strings"

	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// A span is the words of a text from first to last, as [stem.Word] counts them.
type span struct{ first, last int }

// isNear reports whether the two occur in one segment with few enough words
// between them.
func (f *firing) isNear(m *matching, n *nearness) bool {
	for i := range f.segments {
		s := &f.segments[i]
		if !n.in.has(s.field) || !m.have(n.a, s.field) || !m.have(n.b, s.field) {
			continue
		}
		if meet(f.spans(m, n.a, i), f.spans(m, n.b, i), n.within) {
			return true
		}
	}
	return false
}

// meet reports whether a span of each list have at most so many words between
// them; those that share a word do not. O(n log n), as texts may be long.
func meet(as, bs []span, within int) bool {
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

// have reports whether one of the patterns occurs in a field.
func (m *matching) have(patterns []int32, f rule.Field) bool {
	return slices.ContainsFunc(patterns, func(p int32) bool { return m.in(p, fieldSets[f]) != 0 })
}

// spans returns where patterns occur in a segment.
func (f *firing) spans(m *matching, patterns []int32, segment int) []span {
	s := &f.segments[segment]
	var list []span
	for _, n := range patterns {
		if m.in(n, fieldSets[s.field]) == 0 {
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
	begin, same := foldedWord(text), stem.List(text, language)
	var list []span
	for _, w := range s.words {
		if strings.HasPrefix(w.Stem, begin) || len(same) == 1 && w.Stem == same[0] {
			list = append(list, span{w.Pos, w.Pos})
		}
	}
	return list
}

// exactSpans counts the words before each place, which is slow, but asked for
// only where all else of a rule holds.
func exactSpans(s *segment, text, language string) []span {
	width := max(stem.Count(text, language), 1)
	var list []span
	counted, words := 0, 0
	for at := range written(s.text, text) {
		words += stem.Count(s.text[counted:at], language)
		counted = at
		list = append(list, span{words, words + width - 1})
	}
	return list
}

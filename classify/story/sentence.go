package story

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// A lexicon numbers the stems, so that comparisons use integers.
type lexicon map[string]int

// A sentence contains the sorted numbers of its distinct stems.
type sentence struct {
	text  string
	stems []int
}

func newSentence(text, lang string, stemNumbers lexicon) sentence {
	list := stem.Stems(text, lang)
	stems := make([]int, len(list))
	for i, s := range list {
		n, ok := stemNumbers[s]
		if !ok {
			n = len(stemNumbers)
			stemNumbers[s] = n
		}
		stems[i] = n
	}
	slices.Sort(stems)
	return sentence{text: text, stems: slices.Compact(stems)}
}

// common returns how many stems two sentences share.
func (s sentence) common(t sentence) int {
	n := 0
	for i, j := 0, 0; i < len(s.stems) && j < len(t.stems); {
		switch a, b := s.stems[i], t.stems[j]; {
		case a < b:
			i++
		case a > b:
			j++
		default:
			n++
			i++
			j++
		}
	}
	return n
}

// cosine returns the cosine of the sets of stems.
func (s sentence) cosine(t sentence) float64 {
	if len(s.stems) == 0 || len(t.stems) == 0 {
		return 0
	}
	return float64(s.common(t)) / math.Sqrt(float64(len(s.stems)*len(t.stems)))
}

// overlap returns the share of the shorter sentence's stems that the other one has.
func (s sentence) overlap(t sentence) float64 {
	shorter := min(len(s.stems), len(t.stems))
	if shorter == 0 {
		return 0
	}
	return float64(s.common(t)) / float64(shorter)
}

// quotableSentences returns the first sentences of an item's text that a summary may quote. A sentence that only repeats
// the title is none.
func quotableSentences(item Document, stemNumbers lexicon) []sentence {
	var list []sentence
	title := newSentence(item.Title, item.Language, stemNumbers)
	for text := range strings.SplitSeq(item.Text[:min(len(item.Text), MaxText)], "\n") {
		all := Sentences(text)
		for i, s := range all {
			if len(s) > maxSentence || len(strings.Fields(s)) < minWords || !isQuotable(s, i == len(all)-1) {
				continue
			}
			if v := newSentence(s, item.Language, stemNumbers); len(v.stems) > 1 && v.common(title) < len(v.stems) {
				list = append(list, v)
			}
			if len(list) == maxSentences {
				return list
			}
		}
	}
	return list
}

// Sentences splits a paragraph after a full stop, question or exclamation mark that is followed by a space
// and not by a lower-case letter, but not after an initial or an abbreviation, as in "J. Smith" and "Dr.
// Smith".
func Sentences(text string) []string {
	var list []string
	start := 0
	for i, r := range text {
		if !strings.ContainsRune(".!?…", r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		rest := strings.TrimLeft(text[end:], "\"'”’»)")
		after := strings.TrimLeft(rest, " \t")
		next, _ := utf8.DecodeRuneInString(after)
		if after == rest || unicode.IsLower(next) || r == '.' && isShort(text[start:i]) {
			continue
		}
		end = len(text) - len(rest)
		list = append(list, strings.TrimSpace(text[start:end]))
		start = end
	}
	if s := strings.TrimSpace(text[start:]); s != "" {
		list = append(list, s)
	}
	return list
}

// isShort reports whether the last word before a full stop is an initial or an
// abbreviation.
func isShort(before string) bool {
	word := before[strings.LastIndexAny(before, " (\"“«")+1:]
	first, size := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(first) && size == len(word) || abbreviations[word] ||
		strings.Contains(word, ".") && !strings.ContainsAny(word, "0123456789")
}

// shortened are abbreviations that a name follows.
var abbreviations = map[string]bool{
	"Mr": true, "Mrs": true, "Ms": true, "Dr": true, "St": true, "Lt": true, "Col": true, "Gen": true,
	"Co": true, "Corp": true, "Inc": true, "Ltd": true, "Jr": true, "Mt": true, "vs": true,
	"Gov": true, "Sen": true, "Rep": true, "Prof": true, "No": true,
	"г": true, "им": true, "ул": true, "проф": true,
}

package story

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// A SummaryLine is a sentence of a summary, and the item that contains it.
type SummaryLine struct {
	Text   string
	ItemID string
}

const (
	maxSources   = 12  // items that sentences are taken from
	maxSentences = 12  // sentences considered per item
	minWords     = 6   // of a usable sentence
	maxSentence  = 400 // bytes
	moreLines    = 2   // sentences of other sources
	damping      = 0.85
	rankRounds   = 30
	relevance    = 0.7 // lambda of MMR: weight of rank against novelty
	tooSimilar   = 0.5 // cosine above which a sentence is redundant
)

// Summary returns the lead sentence of the headline item, and up to two sentences of other sources that add
// most: those of maximal marginal relevance by TextRank. headline is the result of [Headline]. It returns nil
// if no item has a text. Only the first sentences of a dozen items are considered.
//
// Sources: R. Mihalcea, P. Tarau, TextRank: bringing order into texts, 2004; J. Carbonell, J. Goldstein, The
// use of MMR, 1998.
func Summary(items []Document, headline int) []SummaryLine {
	if headline < 0 || headline >= len(items) {
		return nil
	}
	var lead *sentence
	var lines []SummaryLine
	stems := lexicon{}
	if list := sentencesOf(items[headline], stems); len(list) > 0 {
		lead = &list[0]
		lines = append(lines, SummaryLine{lead.text, items[headline].ItemID})
	}
	var list []sentence
	var from []int // the item of each
	sources := map[string]bool{items[headline].Source: true}
	for i, item := range items {
		if i == headline || item.Duplicate || sources[item.Source] || len(sources) > maxSources {
			continue
		}
		sources[item.Source] = true
		for _, s := range sentencesOf(item, stems) {
			list = append(list, s)
			from = append(from, i)
		}
	}
	ranks := textRank(list)
	selected := []sentence{}
	if lead != nil {
		selected = append(selected, *lead)
	}
	used := make(map[int]bool)
	for range moreLines {
		at := marginal(list, ranks, selected, func(i int) bool { return used[from[i]] })
		if at < 0 {
			break
		}
		used[from[at]] = true
		selected = append(selected, list[at])
		lines = append(lines, SummaryLine{list[at].text, items[from[at]].ItemID})
	}
	return lines
}

// marginal returns the index of the sentence of maximal marginal relevance, or -1.
func marginal(list []sentence, ranks []float64, selected []sentence, used func(int) bool) int {
	best, most := -1, math.Inf(-1)
	for i, s := range list {
		if used(i) {
			continue
		}
		similarity := 0.0
		for _, t := range selected {
			similarity = max(similarity, s.cosine(t))
		}
		score := float64(relevance*ranks[i]) - float64((1-relevance)*similarity)
		if similarity < tooSimilar && score > most {
			best, most = i, score
		}
	}
	return best
}

// textRank returns the centrality of each sentence, 1 for the most central: PageRank over edges of common
// words / (ln words of one + ln words of the other).
func textRank(list []sentence) []float64 {
	n := len(list)
	edges, out := matrix(n), make([]float64, n)
	for i := range list {
		for j := range i {
			length := math.Log(float64(len(list[i].stems))) + math.Log(float64(len(list[j].stems)))
			if length <= 0 {
				continue
			}
			edges[i][j] = float64(list[i].common(list[j])) / length
			edges[j][i] = edges[i][j]
		}
	}
	for i := range edges {
		for _, edge := range edges[i] {
			out[i] += edge
		}
	}
	for i := range edges { // from here on: i's share of j's rank
		for j := range edges[i] {
			if edges[i][j] > 0 {
				edges[i][j] /= out[j]
			}
		}
	}
	ranks, next := make([]float64, n), make([]float64, n)
	for i := range ranks {
		ranks[i] = 1
	}
	for range rankRounds {
		for i := range next {
			sum := 0.0
			for j, share := range edges[i] {
				sum += float64(share * ranks[j])
			}
			next[i] = 1 - damping + float64(damping*sum)
		}
		ranks, next = next, ranks
	}
	if n > 0 {
		most := slices.Max(ranks)
		for i := range ranks {
			ranks[i] /= most
		}
	}
	return ranks
}

// matrix returns n rows of n zeros.
func matrix(n int) [][]float64 {
	cells, rows := make([]float64, n*n), make([][]float64, n)
	for i := range rows {
		rows[i] = cells[i*n : (i+1)*n]
	}
	return rows
}

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

// sentencesOf returns the first usable sentences of an item's text.
func sentencesOf(item Document, stemNumbers lexicon) []sentence {
	var list []sentence
	for text := range strings.SplitSeq(item.Text[:min(len(item.Text), MaxText)], "\n") {
		for _, s := range sentences(text) {
			if len(s) > maxSentence || len(strings.Fields(s)) < minWords {
				continue
			}
			if v := newSentence(s, item.Language, stemNumbers); len(v.stems) > 1 {
				list = append(list, v)
			}
			if len(list) == maxSentences {
				return list
			}
		}
	}
	return list
}

// sentences splits a paragraph after a full stop, question or exclamation mark that is followed by a space
// and not by a lower-case letter, but not after an initial or an abbreviation, as in "J. Smith" and "Dr.
// Smith".
func sentences(text string) []string {
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
	"Gov": true, "Sen": true, "Rep": true, "Prof": true, "No": true,
	"г": true, "им": true, "ул": true, "проф": true,
}

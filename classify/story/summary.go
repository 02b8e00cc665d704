package story

import (
	"math"
	"slices"
	"strings"
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
	relevance    = 0.7  // lambda of MMR: weight of rank against novelty
	maxOverlap   = 0.25 // share of common stems above which a sentence repeats a fact of another
	minShared    = 2    // stems of a sentence that other items share
)

// Summary returns at most three sentences: the lead of the headline item, and of the other sources those that add
// most, by maximal marginal relevance over TextRank. headline is the result of [Headline]. Each sentence can stand by
// itself, shares at least two words with what several items report (or with the headline, if all items repeat one),
// and repeats no fact of another. It returns nil if no sentence does. Only the first sentences of a dozen items are
// considered.
//
// Sources: R. Mihalcea, P. Tarau, TextRank: bringing order into texts, 2004; J. Carbonell, J. Goldstein, The
// use of MMR, 1998.
func Summary(items []Document, headline int) []SummaryLine {
	if headline < 0 || headline >= len(items) {
		return nil
	}
	stems := lexicon{}
	common := commonStems(items, headline, stems)
	var selected []sentence
	var lines []SummaryLine
	list := slices.DeleteFunc(quotableSentences(items[headline], stems), func(s sentence) bool { return !common.supports(s) })
	if len(list) > 0 {
		selected, lines = append(selected, list[0]), append(lines, SummaryLine{list[0].text, items[headline].ItemID})
	}
	list = nil
	var from []int // the item of each
	sources := map[string]bool{items[headline].Source: true}
	for i, item := range items {
		if i == headline || item.Duplicate || sources[item.Source] || len(sources) > maxSources {
			continue
		}
		sources[item.Source] = true
		for _, s := range quotableSentences(item, stems) {
			if common.supports(s) {
				list, from = append(list, s), append(from, i)
			}
		}
	}
	for _, at := range central(list, from, selected, moreLines) {
		lines = append(lines, SummaryLine{list[at].text, items[from[at]].ItemID})
	}
	return lines
}

// Digest returns at most three sentences that summarize items about a subject: of the sentences that about accepts,
// those of maximal marginal relevance by TextRank, each of another source. The words of the subject, which all of them
// have, do not count. It considers the first sentences of the first dozen sources.
func Digest(items []Document, subject string, about func(sentence string) bool) []SummaryLine {
	stems := lexicon{}
	var list []sentence
	var from []int // the item of each
	sources := map[string]bool{}
	for i, item := range items {
		if item.Duplicate || sources[item.Source] || len(sources) == maxSources {
			continue
		}
		sources[item.Source] = true
		expected := newSentence(subject, item.Language, stems)
		for _, s := range quotableSentences(item, stems) {
			if about(s.text) {
				s.stems = slices.DeleteFunc(s.stems, func(number int) bool { return slices.Contains(expected.stems, number) })
				list, from = append(list, s), append(from, i)
			}
		}
	}
	var lines []SummaryLine
	for _, at := range central(list, from, nil, 1+moreLines) {
		lines = append(lines, SummaryLine{list[at].text, items[from[at]].ItemID})
	}
	return lines
}

// central returns the indexes of at most limit sentences, each of another item, of maximal marginal relevance by TextRank.
// from is the item of each sentence; selected are those that they must not repeat.
func central(list []sentence, from []int, selected []sentence, limit int) []int {
	ranks := textRank(list)
	used := make(map[int]bool)
	var indexes []int
	for range limit {
		at := marginal(list, ranks, selected, func(i int) bool { return used[from[i]] })
		if at < 0 {
			break
		}
		used[from[at]] = true
		selected, indexes = append(selected, list[at]), append(indexes, at)
	}
	return indexes
}

// A stemSet contains the numbers of stems.
type stemSet map[int]bool

// supports reports whether a sentence has enough of the words that the items of the story share.
func (c stemSet) supports(s sentence) bool {
	n := 0
	for _, number := range s.stems {
		if c[number] {
			n++
		}
	}
	return n >= minShared
}

// commonStems returns the stems that at least two of the items that are no duplicates have, and a fifth of them, in title
// or excerpt; the headline's stems if there are less than two such items. It considers the newest 100.
func commonStems(items []Document, headline int, stems lexicon) stemSet {
	counts, originals := mentions(items[max(0, len(items)-maxDocuments):], stems)
	common := stemSet{}
	if originals < 2 {
		for _, number := range newSentence(items[headline].Title, items[headline].Language, stems).stems {
			common[number] = true
		}
		return common
	}
	for number, n := range counts {
		if n >= 2 && 5*n >= originals {
			common[number] = true
		}
	}
	return common
}

// mentions returns the number of items that have each stem in title or excerpt, and the number of items, without
// duplicates. Of a large story it reads the excerpts of the newest items only.
func mentions(items []Document, stems lexicon) (counts map[int]int, originals int) {
	counts = map[int]int{}
	for _, item := range slices.Backward(items) {
		if item.Duplicate {
			continue
		}
		words := item.Title
		if originals++; originals <= maxExcerpts {
			words += "\n" + excerptOf(item)
		}
		for _, number := range newSentence(words, item.Language, stems).stems {
			counts[number]++
		}
	}
	return counts, originals
}

const (
	maxExcerpts     = 24      // items whose excerpts are compared
	maxExcerptBytes = 1 << 10 // of each
)

func excerptOf(item Document) string {
	text := item.Text
	if len(text) > maxExcerptBytes {
		text = text[:strings.LastIndexByte(text[:maxExcerptBytes], ' ')+1]
	}
	return text
}

// marginal returns the index of the sentence of maximal marginal relevance, or -1.
func marginal(list []sentence, ranks []float64, selected []sentence, used func(int) bool) int {
	best, most := -1, math.Inf(-1)
	for i, s := range list {
		if used(i) {
			continue
		}
		similarity, repeats := 0.0, 0.0
		for _, t := range selected {
			similarity, repeats = max(similarity, s.cosine(t)), max(repeats, s.overlap(t))
		}
		score := float64(relevance*ranks[i]) - float64((1-relevance)*similarity)
		if repeats <= maxOverlap && score > most {
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

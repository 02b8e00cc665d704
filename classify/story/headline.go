package story

import (
	"cmp"
	"math"
	"slices"
	"time"

	"feedmesh/classify/stem"
)

// A Document is an item of a story, as input of headline and summary.
type Document struct {
	ItemID    string
	Title     string
	Text      string // plain; may be empty
	Language  string
	Source    string // feed or host
	Weight    float64
	Seen      time.Time
	Duplicate bool
}

// fullTitleStems is the number of stems of an informative title. Shorter titles resemble all others and get a
// lower score.
const fullTitleStems = 5

// maxDocuments bounds the items of a story that are compared with each other.
const maxDocuments = 100

// Headline returns the index of the item that represents a story: its title is the most similar to all others, and the
// other items have its words; it is complete, no question, list or address to the reader, and from a good source. The
// first of equal items wins; -1 if there are no items. Only the newest 100 items are considered. O(n²).
func Headline(items []Document) int {
	from := max(0, len(items)-maxDocuments)
	vectors := make([]sentence, len(items)-from)
	stems := lexicon{}
	for i := range vectors {
		vectors[i] = newSentence(items[from+i].Title, items[from+i].Language, stems)
	}
	similarity := matrix(len(vectors))
	for i, v := range vectors {
		for j, w := range vectors[:i] {
			similarity[i][j] = v.cosine(w)
			similarity[j][i] = similarity[i][j]
		}
	}
	counts, _ := mentions(items[from:], stems)
	best, most := -1, math.Inf(-1)
	for i, v := range vectors {
		item := items[from+i]
		sum := 0.0
		for _, cosine := range similarity[i] {
			sum += cosine
		}
		score := (sum/float64(max(1, len(vectors)-1)) + 0.01) * math.Pow(cmp.Or(item.Weight, 1), 0.75)
		score *= min(1, float64(len(v.stems))/fullTitleStems) * headlineStyle(item.Title)
		if len(vectors) > 1 {
			score *= support(item, stems, counts)
		}
		if item.Duplicate {
			score *= RepeatWeight
		}
		if score > most {
			best, most = from+i, score
		}
	}
	return best
}

const (
	unsupported   = 0.4 // factor of a title none of whose words another item has
	strangeNumber = 0.7 // factor of a title with a number that no other item has
)

// support returns a factor up to 1: how many of a title's words other items have too.
func support(item Document, stems lexicon, counts map[int]int) float64 {
	words := stem.Stems(item.Title, item.Language)
	if len(words) == 0 {
		return unsupported
	}
	own := 1 // the item itself, which is not counted if it is a duplicate
	if item.Duplicate {
		own = 0
	}
	n, strange := 0, false
	for _, word := range words {
		if counts[stems[word]] > own {
			n++
		} else if '0' <= word[0] && word[0] <= '9' {
			strange = true
		}
	}
	factor := unsupported + (1-unsupported)*float64(n)/float64(len(words))
	if strange {
		factor *= strangeNumber
	}
	return factor
}

// CommonNames returns at most limit names that at least a third of the items with names, and a tenth of all
// items, share, by descending count, then alphabetically. It selects the categories and topics of a story.
// Each element of votes contains the names of one item.
func CommonNames(votes [][]string, limit int) []string {
	counts := make(map[string]int)
	voters := 0
	for _, names := range votes {
		if len(names) > 0 {
			voters++
		}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
			counts[name]++
		}
	}
	var list []string
	for name, n := range counts {
		if 3*n >= voters && 10*n >= len(votes) {
			list = append(list, name)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return slices.Clip(list[:min(len(list), max(0, limit))])
}

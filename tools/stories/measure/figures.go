// Package measure evaluates the grouping of labelled items, by our method and by methods of the literature:
// [Run], [RunPairs] and [Rank] return reports.
package measure

import (
	"cmp"
	"maps"
	"slices"
)

// A Score is precision, recall and their harmonic mean.
type Score struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

func scored(precision, recall float64) Score {
	s := Score{Precision: precision, Recall: recall}
	if precision+recall > 0 {
		s.F1 = 2 * precision * recall / (precision + recall)
	}
	return s
}

// Figures are the quality of a grouping. Shares are between 0 and 1.
type Figures struct {
	Items    int `json:"items"`
	Stories  int `json:"stories"`  // labelled
	Clusters int `json:"clusters"` // found

	BCubed Score   `json:"bcubed"` // mean over items
	Pairs  Score   `json:"pairs"`  // of all pairs of items
	ARI    float64 `json:"ari"`    // adjusted Rand index

	// According to source 3: recall is the share of messages not missed from their stories, precision the
	// share of messages in a story that belong there.
	Messages Score `json:"messages"`
	Missed   int   `json:"missed"`
	Foreign  int   `json:"foreign"`

	// First is the detection of first items: the first item of a cluster is predicted to be the first of a
	// story.
	First Score `json:"first"`
}

// Compare compares clusters with stories: both contain the label of each item, in order of arrival.
//
// Source: A. Bagga, B. Baldwin, Algorithms for scoring coreference chains, 1998 (B-cubed); L. Hubert, P.
// Arabie, Comparing partitions, 1985 (ARI).
func Compare(stories, clusters []string) Figures {
	f := Figures{Items: len(stories)}
	gold, predicted, both := make(map[string]int), make(map[string]int), make(map[[2]string]int)
	firsts, calls, right := 0, 0, 0
	for i := range stories {
		isFirst, called := gold[stories[i]] == 0, predicted[clusters[i]] == 0
		if isFirst {
			firsts++
		}
		if called {
			calls++
		}
		if isFirst && called {
			right++
		}
		gold[stories[i]]++
		predicted[clusters[i]]++
		both[[2]string{stories[i], clusters[i]}]++
	}
	f.Stories, f.Clusters = len(gold), len(predicted)
	f.First = scored(share(right, calls), share(right, firsts))
	n := float64(max(1, f.Items))
	precision, recall, pairs := 0.0, 0.0, 0.0
	for _, k := range sorted(both) {
		m := float64(both[k])
		precision += m * m / float64(predicted[k[1]])
		recall += m * m / float64(gold[k[0]])
		pairs += m * (m - 1) / 2
	}
	f.BCubed = scored(precision/n, recall/n)
	goldPairs, saidPairs := pairsOf(gold), pairsOf(predicted)
	f.Pairs = scored(pairs/max(1, saidPairs), pairs/max(1, goldPairs))
	expected := goldPairs * saidPairs / max(1, n*(n-1)/2)
	if most := (goldPairs + saidPairs) / 2; most != expected {
		f.ARI = (pairs - expected) / (most - expected)
	}
	f.messages(both)
	return f
}

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }

func sorted(both map[[2]string]int) [][2]string {
	return slices.SortedFunc(maps.Keys(both), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
}

func pairsOf(sizes map[string]int) float64 {
	sum := 0
	for _, n := range sizes {
		sum += n * (n - 1) / 2
	}
	return float64(sum)
}

// messages counts like source 3: a cluster represents the story of most of its items; the others are foreign.
// A story is shown by the largest cluster that represents it; its items elsewhere are missed.
func (f *Figures) messages(both map[[2]string]int) {
	type most struct {
		story string
		n     int
	}
	majority := make(map[string]most) // by cluster
	for _, k := range sorted(both) {
		if both[k] > majority[k[1]].n {
			majority[k[1]] = most{k[0], both[k]}
		}
	}
	shown := make(map[string]int) // by story
	kept := 0
	for cluster, m := range majority {
		kept += m.n
		shown[m.story] = max(shown[m.story], both[[2]string{m.story, cluster}])
	}
	found := 0
	for _, n := range shown {
		found += n
	}
	f.Foreign, f.Missed = f.Items-kept, f.Items-found
	f.Messages = scored(share(kept, f.Items), share(found, f.Items))
}

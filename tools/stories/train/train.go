// Package train trains the models by which items are grouped into stories, on items whose stories are known.
package train

import (
	"fmt"
	"io"
	"slices"

	"feedmesh/classify/story"
	"feedmesh/tools/stories/measure"
)

// A Set is the items of one source.
type Set struct {
	Name string
	measure.Set
}

const (
	// rounds is the number of times that models are trained: which examples occur depends on the models before.
	rounds = 3

	// textMergeBias is the evidence that stories of texts need in addition to that of titles to merge, in log odds.
	// There are too few merges of texts to learn from.
	textMergeBias = 4

	maxAlone    = 5000 // items of a set without labels that are used
	aloneWeight = 0.1  // of a set in which no two items belong together, compared with another set
)

// Weights returns w with models trained on sets. Sets of texts also teach the joins of titles if there is no set of
// titles. Progress is written to out.
func Weights(w story.Weights, sets []Set, out io.Writer) story.Weights {
	titles, texts := trainingRecords(sets)
	best, bestTitles, bestTexts := w, 0.0, 0.0
	for round := range rounds {
		all := collectAll(w, titles, texts)
		fmt.Fprintf(out, "round %d: %d joins of titles, %d of texts, %d merges", round+1, len(all.joinTitles), len(all.joinTexts), len(all.mergeTitles))
		if len(all.mergeTitles) > 0 {
			copy(w.JoinTitles[:], fit(all.joinTitles))
			w.MergeTitles = mergeModel(fit(all.mergeTitles))
			f1 := choose(&w, titles, []choice{
				{&w.JoinTitles[story.Bias], []float64{0, 0.4, 0.8, 1.2}},
				{&w.MergeTitles.Events[story.Bias], []float64{-0.3, -0.7, -1.1}},
			})
			if fmt.Fprintf(out, "; F1 of titles %.3f", f1); f1 > bestTitles {
				bestTitles, best.JoinTitles, best.MergeTitles = f1, w.JoinTitles, w.MergeTitles
			}
		}
		w.MergeTexts = w.MergeTitles
		w.MergeTexts.Events[story.Bias] -= textMergeBias
		if len(all.joinTexts) > 0 {
			copy(w.JoinTexts[:], fit(all.joinTexts))
			f1 := choose(&w, texts, []choice{{&w.JoinTexts[story.Bias], []float64{0.5, 1, 1.5, 2}}})
			if fmt.Fprintf(out, "; of texts %.3f", f1); f1 > bestTexts {
				bestTexts, best.JoinTexts, best.MergeTexts = f1, w.JoinTexts, w.MergeTexts
			}
		}
		fmt.Fprintln(out)
	}
	return best
}

// trainingRecords returns the records of sets of titles and of texts that are used for training.
func trainingRecords(sets []Set) (titles, texts [][]measure.Record) {
	for _, s := range sets {
		records := append(slices.Clone(s.Records), measure.PairRecords(s.Pairs)...)
		switch {
		case len(records) == 0:
		case mostHaveTexts(records):
			texts = append(texts, records)
		default:
			first, _ := measure.FirstDays(records, measure.TrainDays)
			titles = append(titles, first)
		}
	}
	if len(titles) == 0 {
		for _, records := range texts {
			titles = append(titles, measure.Titles(records))
		}
	}
	for _, s := range sets {
		if alone := s.Alone[:min(len(s.Alone), maxAlone)]; len(alone) > 0 {
			titles = append(titles, measure.Titles(alone))
			if mostHaveTexts(alone) {
				texts = append(texts, alone)
			}
		}
	}
	return titles, texts
}

func mostHaveTexts(records []measure.Record) bool {
	n := 0
	for _, r := range records {
		if r.Text != "" {
			n++
		}
	}
	return 2*n > len(records)
}

// collectAll collects the examples of all sets, each set with the same weight.
func collectAll(w story.Weights, titles, texts [][]measure.Record) (all examples) {
	for _, records := range titles {
		found := collect(w, records)
		all.joinTitles = append(all.joinTitles, weighted(found.joinTitles)...)
		all.mergeTitles = append(all.mergeTitles, weighted(found.mergeTitles)...)
	}
	for _, records := range texts {
		all.joinTexts = append(all.joinTexts, weighted(collect(w, records).joinTexts)...)
	}
	return all
}

// weighted sets the weights of a set's examples: their sum is 1, or aloneWeight.
func weighted(list []example) []example {
	sum := 1.0
	if !slices.ContainsFunc(list, func(e example) bool { return e.together }) {
		sum = aloneWeight
	}
	for i := range list {
		list[i].weight = sum / float64(len(list))
	}
	return list
}

// A choice is a bias and what may be added to it.
type choice struct {
	bias *float64 // in the weights to choose for
	add  []float64
}

// choose adds to the biases of w what groups the sets best. The probability of a pair says little about
// the best threshold, because an item has several candidates and a wrong join attracts others. It returns the mean F1.
func choose(w *story.Weights, sets [][]measure.Record, choices []choice) (most float64) {
	best := make([]float64, len(choices))
	most = -1
	start := make([]float64, len(choices))
	for i, c := range choices {
		start[i] = *c.bias
	}
	var try func(i int)
	try = func(i int) {
		if i < len(choices) {
			for _, add := range choices[i].add {
				*choices[i].bias = start[i] + add
				try(i + 1)
			}
			return
		}
		if q := quality(*w, sets); q > most {
			most = q
			for i, c := range choices {
				best[i] = *c.bias
			}
		}
	}
	try(0)
	for i, c := range choices {
		*c.bias = best[i]
	}
	return most
}

// quality returns the mean B-cubed F1 of sets: of those with days, the mean of the figures within a day, within three
// days and over all days.
func quality(w story.Weights, sets [][]measure.Record) float64 {
	sum := 0.0
	for _, records := range sets {
		sum += F1(measure.Ours(w, records))
	}
	return sum / float64(max(1, len(sets)))
}

// F1 returns the figure by which biases are chosen.
func F1(r measure.Report) float64 {
	if len(r.Periods) == 0 {
		return r.BCubed.F1
	}
	sum := 0.0
	for _, p := range r.Periods {
		sum += p.BCubed.F1
	}
	return sum / float64(len(r.Periods))
}

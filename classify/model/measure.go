package model

import (
	"cmp"
	"slices"
)

// measure returns the metrics of m on held-out examples, whose features are indexes of names.
func (m *Model) measure(held []example, names []string) Metrics {
	f := Metrics{HeldOut: len(held)}
	for _, c := range m.categories {
		f.Categories = append(f.Categories, CategoryMetrics{Name: c})
	}
	predicted, right := make([]int, len(curveThresholds)), make([]int, len(curveThresholds))
	top := 0
	for _, e := range held {
		for _, k := range e.gold {
			f.Categories[k].HeldOut++
		}
		k, p := m.likeliest(e, names)
		f.Categories[k].Predicted++
		isRight := slices.Contains(e.gold, int32(k))
		if isRight {
			top++
			f.Categories[k].Correct++
		}
		for i, least := range curveThresholds {
			if p >= least {
				predicted[i]++
				if isRight {
					right[i]++
				}
			}
		}
	}
	f.Top1 = share(top, len(held))
	for i, least := range curveThresholds {
		f.Curve = append(f.Curve, CurvePoint{least, share(predicted[i], len(held)), share(right[i], predicted[i])})
	}
	return f
}

// likeliest returns the most likely category of an example and its probability.
func (m *Model) likeliest(e example, names []string) (int, float64) {
	sums := make([]int32, len(m.categories))
	for i, b := range m.bias {
		sums[i] = b * whole
	}
	for i, f := range e.features {
		if id := m.names.Find(names[f]); id >= 0 {
			for k, w := range m.row(id) {
				sums[k] += int32(w) * int32(e.values[i])
			}
		}
	}
	best := slices.Index(sums, slices.Max(sums))
	return best, Probability(float64(sums[best]) * (step / whole))
}

// count adds the number of training examples of each category and language.
func (f *Metrics) count(all []example) {
	languages := make(map[string]*LanguageMetrics)
	for _, e := range all {
		l := languages[e.language]
		if l == nil {
			l = &LanguageMetrics{Language: e.language}
			languages[e.language] = l
		}
		isGeneral := false
		for _, k := range e.gold {
			f.Categories[k].Examples++
			isGeneral = isGeneral || f.Categories[k].Name == General
		}
		switch {
		case isGeneral:
			l.General++
		case len(e.gold) > 0:
			l.Examples++
		}
	}
	for _, l := range languages {
		f.Languages = append(f.Languages, *l)
	}
	slices.SortFunc(f.Languages, func(a, b LanguageMetrics) int {
		return cmp.Or(cmp.Compare(b.Examples, a.Examples), cmp.Compare(b.General, a.General), cmp.Compare(a.Language, b.Language))
	})
	f.Languages = f.Languages[:min(len(f.Languages), maxLanguages)]
}

const maxLanguages = 100 // in the metrics

// curveThresholds are the minimum probabilities that are measured.
var curveThresholds = []float64{0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

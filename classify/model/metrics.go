package model

import (
	"fmt"
	"slices"
	"strings"
)

// Metrics describe how a model was trained, and its results on held-out examples.
type Metrics struct {
	Source     string            `json:"from"`     // source of the examples
	Examples   int               `json:"examples"` // used for training
	Features   int               `json:"features"` // features of the model
	HeldOut    int               `json:"held"`     // held-out examples
	Top1       float64           `json:"top1"`     // share of held-out examples whose most likely category is correct
	Curve      []CurvePoint      `json:"curve"`    // ascending
	Categories []CategoryMetrics `json:"categories"`
}

// A CurvePoint is the result of guessing only from a minimum probability on.
type CurvePoint struct {
	MinProbability float64 `json:"least"`
	Coverage       float64 `json:"coverage"`  // share of items with a guess
	Precision      float64 `json:"precision"` // share of these guesses that are correct
}

// CategoryMetrics count the examples of a category, and the guesses for which it was the most likely one.
type CategoryMetrics struct {
	Name      string `json:"name"`
	Examples  int    `json:"examples"` // used for training
	HeldOut   int    `json:"held"`     // held-out examples
	Predicted int    `json:"said"`
	Correct   int    `json:"right"`
}

// curveThresholds are the minimum probabilities that are measured.
var curveThresholds = []float64{0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

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

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
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

// count adds the number of training examples of each category.
func (f *Metrics) count(all []example) {
	for _, e := range all {
		for _, k := range e.gold {
			f.Categories[k].Examples++
		}
	}
}

// String returns the metrics as a Markdown document.
func (f Metrics) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Trained on %s: %d examples, %d features kept.\n\n", f.Source, f.Examples, f.Features)
	fmt.Fprintf(&b, "Measured on %d held-out examples with a model trained on the others:\n", f.HeldOut)
	fmt.Fprintf(&b, "the most likely category is correct for %.1f %%.\n\n", 100*f.Top1)
	b.WriteString("| minimum probability | items with a guess | of these correct |\n|---|---|---|\n")
	for _, c := range f.Curve {
		fmt.Fprintf(&b, "| %.0f %% | %.1f %% | %.1f %% |\n", 100*c.MinProbability, 100*c.Coverage, 100*c.Precision)
	}
	b.WriteString("\n| category | trained on | held out | most likely | of these correct |\n|---|---|---|---|---|\n")
	for _, c := range f.Categories {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", c.Name, c.Examples, c.HeldOut, c.Predicted, c.Correct)
	}
	return b.String()
}

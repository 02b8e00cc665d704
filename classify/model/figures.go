package model

import (
	"fmt"
	"slices"
	"strings"
)

// Figures say how a model was trained and how well it did on examples that it
// had not learned from.
type Figures struct {
	From       string           `json:"from"`     // where the examples are from
	Examples   int              `json:"examples"` // that it learned from
	Features   int              `json:"features"` // that it knows
	Held       int              `json:"held"`     // examples that the figures are of
	Top1       float64          `json:"top1"`     // share of them whose likeliest category is one of theirs
	Curve      []Confidence     `json:"curve"`    // ascending
	Categories []CategoryFigure `json:"categories"`
}

// A Confidence says what comes of guessing only where p is at least so high.
type Confidence struct {
	Least     float64 `json:"least"`
	Coverage  float64 `json:"coverage"`  // share of items that have a guess
	Precision float64 `json:"precision"` // share of these whose guess is right
}

// A CategoryFigure is of one category, where it is the likeliest.
type CategoryFigure struct {
	Name     string `json:"name"`
	Examples int    `json:"examples"` // that it was learned from
	Held     int    `json:"held"`     // of those that measure
	Said     int    `json:"said"`
	Right    int    `json:"right"`
}

// curveAt are the confidences that are measured.
var curveAt = []float64{0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// measure returns the figures of m on examples whose features are numbers of names.
func (m *Model) measure(held []example, names []string) Figures {
	f := Figures{Held: len(held)}
	for _, c := range m.categories {
		f.Categories = append(f.Categories, CategoryFigure{Name: c})
	}
	said, right := make([]int, len(curveAt)), make([]int, len(curveAt))
	top := 0
	for _, e := range held {
		for _, k := range e.gold {
			f.Categories[k].Held++
		}
		k, p := m.likeliest(e, names)
		f.Categories[k].Said++
		isRight := slices.Contains(e.gold, int32(k))
		if isRight {
			top++
			f.Categories[k].Right++
		}
		for i, least := range curveAt {
			if p >= least {
				said[i]++
				if isRight {
					right[i]++
				}
			}
		}
	}
	f.Top1 = share(top, len(held))
	for i, least := range curveAt {
		f.Curve = append(f.Curve, Confidence{least, share(said[i], len(held)), share(right[i], said[i])})
	}
	return f
}

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// likeliest returns the likeliest category of an example and its probability.
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

// count adds how many examples each category was learned from.
func (f *Figures) count(all []example) {
	for _, e := range all {
		for _, k := range e.gold {
			f.Categories[k].Examples++
		}
	}
}

// String returns the figures as a document for people, in Markdown.
func (f Figures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Trained on %s: %d examples, %d features kept.\n\n", f.From, f.Examples, f.Features)
	fmt.Fprintf(&b, "Measured on %d examples held out while a first model learned from the others:\n", f.Held)
	fmt.Fprintf(&b, "the likeliest category is right for %.1f %%.\n\n", 100*f.Top1)
	b.WriteString("| guessed only from | items with a guess | of these right |\n|---|---|---|\n")
	for _, c := range f.Curve {
		fmt.Fprintf(&b, "| %.0f %% | %.1f %% | %.1f %% |\n", 100*c.Least, 100*c.Coverage, 100*c.Precision)
	}
	b.WriteString("\n| category | learned from | held out | put first | of these right |\n|---|---|---|---|---|\n")
	for _, c := range f.Categories {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", c.Name, c.Examples, c.Held, c.Said, c.Right)
	}
	return b.String()
}

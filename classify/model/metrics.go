package model

import (
	"cmp"
	"fmt"
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
	Languages  []LanguageMetrics `json:"languages,omitempty"` // most examples first; at most 100
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

// LanguageMetrics count the examples in a language.
type LanguageMetrics struct {
	Language string `json:"language"` // ISO 639-1; empty: unknown
	Examples int    `json:"examples"` // with a category other than General
	General  int    `json:"general"`
}

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
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
	b.WriteString("\n| language | examples with a category | general |\n|---|---|---|\n")
	for _, l := range f.Languages {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", cmp.Or(l.Language, "unknown"), l.Examples, l.General)
	}
	return b.String()
}

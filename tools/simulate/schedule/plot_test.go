package schedule

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"feedmesh/agent/role/schedule/policy"
)

func TestPlot_SVGWithACurveForEachPolicy(t *testing.T) {
	t.Parallel()
	var results []Result
	for _, kind := range []string{policy.KindTiers, policy.KindPrice} {
		w := Kinds()[0].Generate(50, begin, 4, 1)
		r, err := Run(t.Context(), w, Span{begin, 1, 2}, policy.New(policy.Settings{Kind: kind}), 1)
		if err != nil {
			t.Fatal(err)
		}
		r.Policy = kind
		results = append(results, r)
	}
	results = append(results, Result{World: "<empty>", Policy: "none"})
	var svg bytes.Buffer
	if err := Plot(&svg, results); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(svg.Bytes())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg.String())
		}
	}
	for text, want := range map[string]int{"<polyline": 6, "tiers, mean ": 1, "price, mean ": 1, "NaN": 0, "Inf": 0, "&lt;empty&gt;": 1} {
		if got := strings.Count(svg.String(), text); got != want {
			t.Errorf("%q occurs %d times, want %d", text, got, want)
		}
	}
}

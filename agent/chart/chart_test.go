package chart

import (
	"encoding/xml"
	"html/template"
	"io"
	"math"
	"strings"
	"testing"
)

const evil = `</title><script>alert(1)</script>"'&`

// pictures are one chart of each kind with hostile text, and empty charts.
func pictures() map[string]template.HTML {
	say := func(float64) string { return evil }
	ticks := []Tick{{1, evil}, {10, "10"}, {100, "100"}}
	return map[string]template.HTML{
		"columns":    Columns(evil, []string{evil, "b"}, []Column{{evil, []int64{3, 1}}, {"2", []int64{0, 0}}, {"3", []int64{40, 0}}}),
		"no columns": Columns(evil, nil, nil),
		"lines":      Lines(evil, []string{evil, "b", "c", "d"}, []Line{{evil, []float64{5, math.NaN(), 1000, 0}}, {"p", []float64{math.NaN(), 7, math.NaN(), math.NaN()}}}, ticks, say),
		"no lines":   Lines(evil, nil, nil, ticks, say),
		"heat":       HeatMap(evil, []string{evil, "b"}, []string{evil, "1", "2"}, [][]int64{{0, 1, 10}, {5, 0, 9}}),
		"no heat":    HeatMap(evil, nil, nil, nil),
		"bars":       Bars(evil, []Bar{{evil, 5, evil}, {strings.Repeat("ж", 40), 0, "0"}}),
		"no bars":    Bars(evil, nil),
		"graph":      Graph(evil, []Node{{Name: evil, Label: evil, Lines: []string{evil}, URL: evil}, {Name: "b", Label: strings.Repeat("語", 40), Round: true, Strong: true}}, []Edge{{0, 1, false}, {0, 1, true}}),
		"no graph":   Graph(evil, []Node{{Name: "a"}}, nil),
	}
}

func TestCharts_ValidXMLWithTitle(t *testing.T) {
	for name, picture := range pictures() {
		d, titled := xml.NewDecoder(strings.NewReader(string(picture))), 0
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v in %s", name, err, picture)
			}
			start, is := token.(xml.StartElement)
			if !is {
				continue
			}
			if start.Name.Local == "title" {
				titled++
			}
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s: %s has %s=%q", name, start.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
		if titled == 0 || strings.Contains(string(picture), "<script") {
			t.Errorf("%s: %d titles in %s", name, titled, picture)
		}
	}
}

func TestColumns_HeightsMatchValues(t *testing.T) {
	got := string(Columns("t", []string{"a", "b"}, []Column{{"1", []int64{4, 2}}, {"2", []int64{0, 8}}}))
	// Four steps of 2 are 160 high: 20 per unit. The second series is stacked on the first.
	for _, want := range []string{`class="s1" d="M77.4 90h235.2v80h-235.2z"`, `class="s2" d="M77.4 50h235.2v40h-235.2zM371.4 10h235.2v160h-235.2z"`, "<title>1: a 4, b 2</title>"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

func TestLines_GapsForMissingValues(t *testing.T) {
	got := string(Lines("t", []string{"1", "2", "3", "4"}, []Line{{"a", []float64{0, 10, math.NaN(), 1000}}}, []Tick{{1, "1"}, {100, "100"}}, shortNumber))
	if want := `d="M121.5 170h0L268.5 90h0M562.5 10h0"`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s: from the first tick to the last, and a gap", got, want)
	}
	even := string(Lines("t", []string{"1", "2", "3"}, []Line{{"a", []float64{-1, 0, 0.5}}}, []Tick{{-1, "-1"}, {1, "1"}}, shortNumber))
	if want := `d="M146 170h0L342 90h0L538 50h0"`; !strings.Contains(even, want) {
		t.Errorf("got %s, want %s: equal steps for what may be below 0", even, want)
	}
}

func TestHeatMap_ShadesGrowWithValues(t *testing.T) {
	for value, want := range map[int64]int{0: 0, 1: 1, 20: 1, 21: 2, 80: 4, 81: 5, 100: 5} {
		if got := shade(value, 100); got != want {
			t.Errorf("%d of 100: got %d, want %d", value, got, want)
		}
	}
}

func TestGrid_RoundValues(t *testing.T) {
	for x, want := range map[float64]float64{0: 1, 0.25: 1, 1: 1, 1.1: 2, 3: 5, 6: 10, 51: 100, 12345: 20000} {
		if got := roundUp(x); got != want {
			t.Errorf("%v: got %v, want %v", x, got, want)
		}
	}
	for x, want := range map[float64]string{0: "0", 7: "7", 1200: "1.2k", 5e6: "5M"} {
		if got := shortNumber(x); got != want {
			t.Errorf("%v: got %s, want %s", x, got, want)
		}
	}
}

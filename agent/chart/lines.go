package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// A Line is a series of values over the labels of a chart. A missing value is NaN and leaves a gap.
type Line struct {
	Name   string
	Values []float64
}

// A Tick is a grid line's value and label.
type Tick struct {
	Value float64
	Label string
}

// Lines draws at most three lines. The axis extends from the first to the last tick, at least two in
// ascending order; it is logarithmic if all ticks are above 0. format formats a value.
func Lines(title string, labels []string, lines []Line, ticks []Tick, format func(float64) string) template.HTML {
	var c canvas
	c.begin(title, height)
	scale := func(value float64) float64 { return value }
	if ticks[0].Value > 0 {
		scale = func(value float64) float64 { return math.Log(max(value, ticks[0].Value)) }
	}
	lowest, highest := scale(ticks[0].Value), scale(ticks[len(ticks)-1].Value)
	at := func(value float64) float64 {
		share := (scale(value) - lowest) / (highest - lowest)
		return bottom - min(max(share, 0), 1)*(bottom-top)
	}
	for _, tick := range ticks {
		c.gridLine(at(tick.Value), tick.Label)
	}
	for s, line := range lines {
		var path strings.Builder
		move := "M"
		for i, value := range line.Values {
			if math.IsNaN(value) {
				move = "M"
				continue
			}
			// A value between two gaps is drawn as a dot: a line of length 0 with round ends.
			fmt.Fprintf(&path, "%s%s %sh0", move, number(middle(i, len(labels))), number(at(value)))
			move = "L"
		}
		if path.Len() > 0 {
			fmt.Fprintf(&c, `<path class="l%d" d="%s"/>`, s+1, path.String())
		}
	}
	c.labels(labels)
	for i, label := range labels {
		var parts []string
		for _, line := range lines {
			if !math.IsNaN(line.Values[i]) {
				parts = append(parts, line.Name+" "+format(line.Values[i]))
			}
		}
		if parts != nil {
			c.tooltip(i, len(labels), label+": "+strings.Join(parts, ", "))
		}
	}
	return c.end()
}

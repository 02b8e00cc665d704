package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// A Line is a series of values over the labels of a picture. What is not known is
// NaN, and leaves a gap.
type Line struct {
	Name   string
	Values []float64
}

// A Tick is a value to read others by.
type Tick struct {
	Value float64
	Label string
}

// Lines draws at most three lines between the first of the ticks, of which there
// are at least two in ascending order, and the last. Where all are above 0, each
// next step of the same height is as many times as much. say writes a value.
func Lines(title string, labels []string, lines []Line, ticks []Tick, say func(float64) string) template.HTML {
	var c canvas
	c.begin(title, height)
	scale := func(value float64) float64 { return value }
	if ticks[0].Value > 0 {
		scale = func(value float64) float64 { return math.Log(max(value, ticks[0].Value)) }
	}
	least, most := scale(ticks[0].Value), scale(ticks[len(ticks)-1].Value)
	at := func(value float64) float64 {
		share := (scale(value) - least) / (most - least)
		return bottom - min(max(share, 0), 1)*(bottom-top)
	}
	for _, tick := range ticks {
		c.line(at(tick.Value), tick.Label)
	}
	for s, line := range lines {
		var path strings.Builder
		move := "M"
		for i, value := range line.Values {
			if math.IsNaN(value) {
				move = "M"
				continue
			}
			// A value between two gaps is a dot: a line of no length with round ends.
			fmt.Fprintf(&path, "%s%s %sh0", move, number(middle(i, len(labels))), number(at(value)))
			move = "L"
		}
		if path.Len() > 0 {
			fmt.Fprintf(&c, `<path class="l%d" d="%s"/>`, s+1, path.String())
		}
	}
	c.labels(labels)
	for i, label := range labels {
		var said []string
		for _, line := range lines {
			if !math.IsNaN(line.Values[i]) {
				said = append(said, line.Name+" "+say(line.Values[i]))
			}
		}
		if said != nil {
			c.tip(i, len(labels), label+": "+strings.Join(said, ", "))
		}
	}
	return c.end()
}

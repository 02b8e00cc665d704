package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// A Column is what is stacked over one label: a value, not below 0, of each series.
type Column struct {
	Label  string
	Values []int64
}

// Columns draws columns side by side. Names are those of the series, at most
// [Series], from the bottom up.
func Columns(title string, names []string, columns []Column) template.HTML {
	var c canvas
	c.begin(title, height)
	highest := int64(0)
	for _, column := range columns {
		highest = max(highest, sum(column.Values))
	}
	step := round(float64(highest) / 5)
	steps := max(1, math.Ceil(float64(highest)/step))
	scale := float64(bottom-top) / (steps * step)
	for i := 0.0; i <= steps; i++ {
		c.line(bottom-i*step*scale, short(i*step))
	}
	paths := make([]strings.Builder, len(names))
	each := float64(right-left) / float64(max(len(columns), 1))
	wide := max(1, each*0.8)
	labels := make([]string, len(columns))
	for i, column := range columns {
		labels[i] = column.Label
		y := float64(bottom)
		for s, value := range column.Values {
			if value > 0 {
				high := float64(value) * scale
				y -= high
				fmt.Fprintf(&paths[s], "M%s %sh%sv%sh-%sz", number(left+float64(i)*each+(each-wide)/2), number(y), number(wide), number(high), number(wide))
			}
		}
	}
	for s := range paths {
		if paths[s].Len() > 0 {
			fmt.Fprintf(&c, `<path class="s%d" d="%s"/>`, s+1, paths[s].String())
		}
	}
	c.labels(labels)
	for i, column := range columns {
		c.tip(i, len(columns), column.words(names))
	}
	return c.end()
}

// words says what a column shows.
func (c Column) words(names []string) string {
	var said []string
	for s, value := range c.Values {
		if value > 0 {
			said = append(said, fmt.Sprintf("%s %d", names[s], value))
		}
	}
	if said == nil {
		said = []string{"none"}
	}
	return c.Label + ": " + strings.Join(said, ", ")
}

func sum(values []int64) (all int64) {
	for _, v := range values {
		all += v
	}
	return all
}

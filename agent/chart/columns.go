package chart

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// A Column is a stack of values, one per series, not negative.
type Column struct {
	Label  string
	Values []int64
}

// Columns draws stacked columns side by side. names are those of the series, from the bottom up, at most
// [MaxSeries].
func Columns(title string, names []string, columns []Column) template.HTML {
	var c canvas
	c.begin(title, height)
	highest := int64(0)
	for _, column := range columns {
		highest = max(highest, sum(column.Values))
	}
	step := roundUp(float64(highest) / 5)
	shades := max(1, math.Ceil(float64(highest)/step))
	scale := float64(bottom-top) / (shades * step)
	for i := 0.0; i <= shades; i++ {
		c.gridLine(bottom-i*step*scale, shortNumber(i*step))
	}
	paths := make([]strings.Builder, len(names))
	columnWidth := float64(right-left) / float64(max(len(columns), 1))
	barWidth := max(1, columnWidth*0.8)
	labels := make([]string, len(columns))
	for i, column := range columns {
		labels[i] = column.Label
		y := float64(bottom)
		for s, value := range column.Values {
			if value > 0 {
				barHeight := float64(value) * scale
				y -= barHeight
				fmt.Fprintf(&paths[s], "M%s %sh%sv%sh-%sz", number(left+float64(i)*columnWidth+(columnWidth-barWidth)/2), number(y), number(barWidth), number(barHeight), number(barWidth))
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
		c.tooltip(i, len(columns), column.tooltip(names))
	}
	return c.end()
}

// tooltip describes the values of a column.
func (c Column) tooltip(names []string) string {
	var parts []string
	for s, value := range c.Values {
		if value > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", names[s], value))
		}
	}
	if parts == nil {
		parts = []string{"none"}
	}
	return c.Label + ": " + strings.Join(parts, ", ")
}

func sum(values []int64) (all int64) {
	for _, v := range values {
		all += v
	}
	return all
}

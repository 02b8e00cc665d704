// Package chart draws charts as SVG on the server, for pages without scripts and external resources: [Bars],
// [Columns], [Lines], [HeatMap] and [Graph]. The title of a chart describes it to screen readers; the page shows the
// numbers in a table beside it.
//
// The page defines the colours by class: "s1" to "s9" fill, "l1" to "l3" draw lines, "h0" to "h5" are the
// shades of a heat map, "grid" are grid lines; "node", "strong", "label", "line", "edge", "dashed" and "head" are parts of a graph.
package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// MaxSeries is the maximum number of series in a chart, bounded by the number of distinguishable colours.
const MaxSeries = 9

// Dimensions of a chart, in SVG user units, which the browser scales.
const (
	width    = 640
	left     = 48 // edge of the plot; the grid's labels are left of it
	right    = width - 4
	top      = 10
	bottom   = 170 // edge of the plot
	height   = 192 // including the labels below the plot
	maxTicks = 8   // maximum number of labels below a plot
)

// A canvas builds an SVG.
type canvas struct{ strings.Builder }

// begin writes the opening tag of a chart.
func (c *canvas) begin(title string, height int) {
	fmt.Fprintf(c, `<svg class="chart" role="img" viewBox="0 0 %d %d"><title>%s</title>`, width, height, html.EscapeString(title))
}

func (c *canvas) end() template.HTML {
	c.WriteString("</svg>")
	return template.HTML(c.String()) // all text passed through EscapeString
}

// text writes text that is anchored at x: "start", "middle" or "end".
func (c *canvas) text(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s">%s</text>`, number(x), number(y), anchor, html.EscapeString(text))
}

// gridLine draws a grid line and its value.
func (c *canvas) gridLine(y float64, value string) {
	fmt.Fprintf(c, `<path class="grid" d="M%d %sH%d"/>`, left, number(y), right)
	c.text(left-6, y+4, "end", value)
}

// labels writes column labels, at most maxTicks, so that they do not overlap.
func (c *canvas) labels(labels []string) {
	step := (len(labels) + maxTicks - 1) / maxTicks
	for i := 0; i < len(labels); i += max(step, 1) {
		c.text(middle(i, len(labels)), bottom+16, "middle", labels[i])
	}
}

// tooltip adds a tooltip to a column.
func (c *canvas) tooltip(i, n int, text string) {
	columnWidth := float64(right-left) / float64(n)
	fmt.Fprintf(c, `<rect class="tip" x="%s" y="%d" width="%s" height="%d"><title>%s</title></rect>`,
		number(left+float64(i)*columnWidth), top, number(columnWidth), bottom-top, html.EscapeString(text))
}

// middle returns the x coordinate of a column's centre.
func middle(i, n int) float64 {
	return left + (float64(i)+0.5)*float64(right-left)/float64(n)
}

// number formats a coordinate, rounded to a tenth.
func number(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// roundUp returns the smallest of 1, 2, 5, 10, 20, ... that is not less than x.
func roundUp(x float64) float64 {
	for step := 1.0; ; step *= 10 {
		for _, by := range []float64{1, 2, 5} {
			if step*by >= x {
				return step * by
			}
		}
	}
}

// shortNumber formats a whole number with a unit: "1.2k".
func shortNumber(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= unit.size {
			return number(n/unit.size) + unit.name
		}
	}
	return number(n)
}

// Package chart draws numbers as SVG, on the server, for pages that run no
// scripts and load nothing from elsewhere. What a picture shows is in its title, for
// those who can't see it; the numbers themselves belong in a table beside it.
//
// Colours are the page's, by class: "s1" to "s9" fill, "l1" to "l3" draw lines,
// "h0" to "h5" are steps of a heat map, "grid" are lines to read values by.
package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Series is how many series there may be in one picture: as many as there are
// colours that can be told apart.
const Series = 9

// Measures of a picture, in the units of its own that a browser scales.
const (
	width    = 640
	left     = 48 // of the plot, where the values of the grid stand
	right    = width - 4
	top      = 10
	bottom   = 170 // of the plot
	height   = 192 // with the labels under it
	maxTicks = 8   // labels under a plot
)

// A canvas is an SVG that is being drawn.
type canvas struct{ strings.Builder }

// begin begins a picture of so much height.
func (c *canvas) begin(title string, height int) {
	fmt.Fprintf(c, `<svg class="chart" role="img" viewBox="0 0 %d %d"><title>%s</title>`, width, height, html.EscapeString(title))
}

func (c *canvas) end() template.HTML {
	c.WriteString("</svg>")
	return template.HTML(c.String()) // all words in it went through EscapeString
}

// words writes text that ends, begins or is centred at x.
func (c *canvas) words(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s">%s</text>`, number(x), number(y), anchor, html.EscapeString(text))
}

// line draws a line to read a value by, and the value.
func (c *canvas) line(y float64, value string) {
	fmt.Fprintf(c, `<path class="grid" d="M%d %sH%d"/>`, left, number(y), right)
	c.words(left-6, y+4, "end", value)
}

// labels writes some of the labels of columns, so many that they do not touch.
func (c *canvas) labels(labels []string) {
	step := (len(labels) + maxTicks - 1) / maxTicks
	for i := 0; i < len(labels); i += max(step, 1) {
		c.words(middle(i, len(labels)), bottom+16, "middle", labels[i])
	}
}

// tip has words shown where the pointer rests on a column.
func (c *canvas) tip(i, n int, words string) {
	each := float64(right-left) / float64(n)
	fmt.Fprintf(c, `<rect class="tip" x="%s" y="%d" width="%s" height="%d"><title>%s</title></rect>`,
		number(left+float64(i)*each), top, number(each), bottom-top, html.EscapeString(words))
}

// middle returns where the middle of a column is.
func middle(i, n int) float64 {
	return left + (float64(i)+0.5)*float64(right-left)/float64(n)
}

// number writes a coordinate, to a tenth.
func number(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// round returns the least of 1, 2, 5, 10, 20, ... that is no less than x, a whole
// number.
func round(x float64) float64 {
	for step := 1.0; ; step *= 10 {
		for _, by := range []float64{1, 2, 5} {
			if step*by >= x {
				return step * by
			}
		}
	}
}

// short writes a whole number in little room: "1.2k".
func short(n float64) string {
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

package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
)

// shades is the number of shades for values above 0.
const shades = 5

// HeatMap draws a cell for each value; the shade grows with the value. Every third column is labelled.
func HeatMap(title string, rows, columns []string, values [][]int64) template.HTML {
	const rowHeight = 22
	var c canvas
	c.begin(title, top+len(rows)*rowHeight+20)
	highest := int64(0)
	for _, row := range values {
		for _, value := range row {
			highest = max(highest, value)
		}
	}
	columnWidth := float64(right-left) / float64(max(len(columns), 1))
	for i, row := range rows {
		y := top + i*rowHeight
		c.text(left-6, float64(y)+rowHeight*0.7, "end", row)
		for j, column := range columns {
			value := values[i][j]
			fmt.Fprintf(&c, `<rect class="h%d" x="%s" y="%d" width="%s" height="%d"><title>%s %s: %d</title></rect>`,
				shade(value, highest), number(left+float64(j)*columnWidth), y, number(columnWidth-1.5), rowHeight-2, html.EscapeString(row), html.EscapeString(column), value)
		}
	}
	for j := 0; j < len(columns); j += 3 {
		c.text(left+(float64(j)+0.5)*columnWidth, float64(top+len(rows)*rowHeight+14), "middle", columns[j])
	}
	return c.end()
}

// shade returns the shade of a value: 0 for none, else from 1.
func shade(value, highest int64) int {
	if value <= 0 {
		return 0
	}
	return int(math.Ceil(float64(value) / float64(highest) * shades))
}

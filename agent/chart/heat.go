package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
)

// steps is how many shades there are for more than nothing.
const steps = 5

// Heat draws a field for each value, darker or lighter the more it is. Rows and
// columns are what their labels say; of the columns every third is labelled.
func Heat(title string, rows, columns []string, values [][]int64) template.HTML {
	const high = 22
	var c canvas
	c.begin(title, top+len(rows)*high+20)
	most := int64(0)
	for _, row := range values {
		for _, value := range row {
			most = max(most, value)
		}
	}
	each := float64(right-left) / float64(max(len(columns), 1))
	for i, row := range rows {
		y := top + i*high
		c.words(left-6, float64(y)+high*0.7, "end", row)
		for j, column := range columns {
			value := values[i][j]
			fmt.Fprintf(&c, `<rect class="h%d" x="%s" y="%d" width="%s" height="%d"><title>%s %s: %d</title></rect>`,
				shade(value, most), number(left+float64(j)*each), y, number(each-1.5), high-2, html.EscapeString(row), html.EscapeString(column), value)
		}
	}
	for j := 0; j < len(columns); j += 3 {
		c.words(left+(float64(j)+0.5)*each, float64(top+len(rows)*high+14), "middle", columns[j])
	}
	return c.end()
}

// shade returns the step of a value: 0 for nothing, else from 1.
func shade(value, most int64) int {
	if value <= 0 {
		return 0
	}
	return int(math.Ceil(float64(value) / float64(most) * steps))
}

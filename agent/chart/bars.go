package chart

import (
	"fmt"
	"html"
	"html/template"
)

// A Bar is a value, not below 0, and what it is of.
type Bar struct {
	Label string
	Value int64
	Said  string // the value in words
}

// Bars draws bars from the left, one below the other.
func Bars(title string, bars []Bar) template.HTML {
	const (
		high  = 24
		begin = 150 // of the bars, after their labels
		end   = width - 110
	)
	var c canvas
	c.begin(title, len(bars)*high+4)
	most := int64(1)
	for _, bar := range bars {
		most = max(most, bar.Value)
	}
	for i, bar := range bars {
		y, long := float64(i*high+2), float64(end-begin)*float64(bar.Value)/float64(most)
		c.words(begin-8, y+high*0.65, "end", cut(bar.Label))
		fmt.Fprintf(&c, `<rect class="s1" x="%d" y="%s" width="%s" height="%d"><title>%s: %s</title></rect>`,
			begin, number(y), number(max(long, 1)), high-5, html.EscapeString(bar.Label), html.EscapeString(bar.Said))
		c.words(begin+long+8, y+high*0.65, "start", bar.Said)
	}
	return c.end()
}

// cut returns as much of a label as there is room for.
func cut(label string) string {
	const most = 20
	if runes := []rune(label); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return label
}

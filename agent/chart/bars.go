package chart

import (
	"fmt"
	"html"
	"html/template"
)

// A Bar is a labelled value, not negative.
type Bar struct {
	Label     string
	Value     int64
	ValueText string // formatted value
}

// Bars draws horizontal bars, one below the other.
func Bars(title string, bars []Bar) template.HTML {
	const (
		rowHeight = 24
		begin     = 150 // left edge of the bars, after their labels
		end       = width - 110
	)
	var c canvas
	c.begin(title, len(bars)*rowHeight+4)
	highest := int64(1)
	for _, bar := range bars {
		highest = max(highest, bar.Value)
	}
	for i, bar := range bars {
		y, length := float64(i*rowHeight+2), float64(end-begin)*float64(bar.Value)/float64(highest)
		c.text(begin-8, y+rowHeight*0.65, "end", truncate(bar.Label))
		fmt.Fprintf(&c, `<rect class="s1" x="%d" y="%s" width="%s" height="%d"><title>%s: %s</title></rect>`,
			begin, number(y), number(max(length, 1)), rowHeight-5, html.EscapeString(bar.Label), html.EscapeString(bar.ValueText))
		c.text(begin+length+8, y+rowHeight*0.65, "start", bar.ValueText)
	}
	return c.end()
}

// truncate shortens a label to the available width.
func truncate(label string) string {
	const maxRunes = 20
	if runes := []rune(label); len(runes) > maxRunes {
		return string(runes[:maxRunes-1]) + "…"
	}
	return label
}

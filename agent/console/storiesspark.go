package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/api"
)

// A spark is a small picture of how many items came when, up to now: a bar for each
// hour, or for several where there are many.
type spark struct {
	Width, Height int
	Path          string // of an SVG: the bars
	Words         string // what it shows
}

const (
	sparkHours  = 7 * 24 // that it shows at most, from the first one on
	sparkBars   = 48     // at most
	sparkHeight = 24
	barWidth    = 3
	barGap      = 1
)

// addBar adds the bar in place i, from 0, to a path of an SVG.
func addBar(path *strings.Builder, i, height int) {
	fmt.Fprintf(path, "M%d %dh%dv-%dh-%dz", i*(barWidth+barGap), sparkHeight, barWidth, height, barWidth)
}

// widthOf returns how wide so many bars are.
func widthOf(bars int) int { return bars*(barWidth+barGap) - barGap }

// sparkOf returns nil where nothing came.
func sparkOf(a api.Activity, now time.Time) *spark {
	if len(a.Hours) == 0 {
		return nil
	}
	until := 1 + int(now.Sub(a.Since)/time.Hour)
	hours := max(len(a.Hours), min(until, sparkHours))
	each := (hours + sparkBars - 1) / sparkBars // hours in a bar
	bars := make([]int, (hours+each-1)/each)
	all := 0
	for hour, n := range a.Hours {
		bars[hour/each] += n
		all += n
	}
	most := slices.Max(bars)
	var path strings.Builder
	for i, n := range bars {
		if n > 0 { // what is there is seen
			height := max(2, n*sparkHeight/most)
			addBar(&path, i, height)
		}
	}
	over := "within " + plural(int64(hours), "hour")
	if hours >= until {
		over = "in the last " + plural(int64(hours), "hour")
	}
	s := &spark{Width: widthOf(len(bars)), Height: sparkHeight, Path: path.String(), Words: plural(int64(all), "item") + " " + over}
	if all > most {
		s.Words += ", at most " + count(int64(most)) + " within " + plural(int64(each), "hour")
	}
	return s
}

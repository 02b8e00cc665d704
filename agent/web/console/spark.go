package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// A spark is a sparkline of items over time up to now: a bar for each hour, or for several hours if the
// period is long.
type spark struct {
	Width, Height int
	Path          string      // SVG path of the bars
	Words         locale.Text // text alternative
}

const (
	sparkHours  = 7 * 24 // maximum period, from the first hour
	sparkBars   = 48     // maximum number of bars
	sparkHeight = 24
	barWidth    = 3
	barGap      = 1
)

// addBar appends bar i, from 0, to an SVG path.
func addBar(path *strings.Builder, i, height int) {
	fmt.Fprintf(path, "M%d %dh%dv-%dh-%dz", i*(barWidth+barGap), sparkHeight, barWidth, height, barWidth)
}

// widthOf returns the width of a number of bars.
func widthOf(bars int) int { return bars*(barWidth+barGap) - barGap }

// sparkOf returns nil if there are no items.
func sparkOf(a wire.HourlyItems, now time.Time) *spark {
	if len(a.Hours) == 0 {
		return nil
	}
	until := 1 + int(now.Sub(a.Since)/time.Hour)
	hours := max(len(a.Hours), min(until, sparkHours))
	each := (hours + sparkBars - 1) / sparkBars // hours per bar
	bars := make([]int, (hours+each-1)/each)
	all := 0
	for hour, n := range a.Hours {
		bars[hour/each] += n
		all += n
	}
	highest := slices.Max(bars)
	var path strings.Builder
	for i, n := range bars {
		if n > 0 { // a bar is at least 2 pixels high
			height := max(2, n*sparkHeight/highest)
			addBar(&path, i, height)
		}
	}
	items, period := locale.Plural(int64(all), "item"), locale.Plural(int64(hours), "hour")
	words := locale.T("%s within %s", items, period)
	if hours >= until {
		words = locale.T("%s in the last %s", items, period)
	}
	if all > highest {
		words = locale.T("%s, at most %s within %s", words, locale.Count(int64(highest)), locale.Plural(int64(each), "hour"))
	}
	return &spark{Width: widthOf(len(bars)), Height: sparkHeight, Path: path.String(), Words: words}
}

// A pollSpark is a sparkline of a feed's last polls, oldest first. The height of a bar is the poll's
// duration.
type pollSpark struct {
	Width, Height int
	Good, Bad     string      // SVG paths of successful and failed polls
	Words         locale.Text // text alternative
}

// pollSparkOf returns nil for fewer than two polls. polls are sorted newest first.
func pollSparkOf(polls []subjects.Poll) *pollSpark {
	if len(polls) < 2 {
		return nil
	}
	longest := max(slices.MaxFunc(polls, func(a, b subjects.Poll) int { return int(a.Duration - b.Duration) }).Duration, time.Millisecond)
	var good, bad strings.Builder
	all, failed, took := len(polls), 0, []time.Duration(nil)
	for i, p := range slices.Backward(polls) {
		height := max(2, int(int64(sparkHeight)*int64(p.Duration)/int64(longest)))
		to := &good
		if p.Class != "" {
			to = &bad
			failed++
		}
		all += p.UnchangedBefore
		took = append(took, p.Duration)
		addBar(to, len(polls)-1-i, height)
	}
	slices.Sort(took)
	s := &pollSpark{Width: widthOf(len(polls)), Height: sparkHeight, Good: good.String(), Bad: bad.String()}
	half, most := locale.Count(took[(len(took)-1)/2].Milliseconds()), locale.Count(longest.Milliseconds())
	if all > len(polls) {
		s.Words = locale.T("The last %s polls: %s failed; of the %s shown, half took at most %s ms, the longest %s ms.",
			strconv.Itoa(all), strconv.Itoa(failed), strconv.Itoa(len(polls)), half, most)
	} else {
		s.Words = locale.T("The last %s polls: %s failed; half took at most %s ms, the longest %s ms.", strconv.Itoa(all), strconv.Itoa(failed), half, most)
	}
	return s
}

package console

import (
	"slices"
	"time"

	"feedmesh/agent/wire"
)

// A histogram is a bar chart of items by day, the latest last. Days lists the days, the latest first.
type histogram struct {
	Width, Height int
	Bars          []dayBar
	Days          []choice
}

type dayBar struct {
	choice
	X, Y, Width, Height int
}

const (
	dayHeight = 36
	dayWidth  = 6
	dayGap    = 1
	maxDays   = 31
)

// days returns the histogram of the results, or nil if there are fewer than two days and no day is selected.
func (s state) days(facet []wire.Facet) *histogram {
	counts := map[string]int64{}
	var last, first time.Time
	for _, f := range facet {
		at, err := time.Parse(time.DateOnly, f.Value)
		if err != nil {
			continue
		}
		counts[f.Value] = f.Count
		if last.IsZero() || at.After(last) {
			last = at
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if len(counts) < 2 && s["day"] == "" || len(counts) == 0 {
		return nil
	}
	if earliest := last.AddDate(0, 0, 1-maxDays); first.Before(earliest) {
		first = earliest
	}
	h := &histogram{Height: dayHeight}
	highest := int64(1)
	for _, n := range counts {
		highest = max(highest, n)
	}
	for at := first; !at.After(last); at = at.AddDate(0, 0, 1) {
		name := at.Format(time.DateOnly)
		c := choice{Label: day(name), Count: counts[name], URL: s.with("day", name).URL(), Active: s["day"] == name, Key: "day " + name}
		if c.Active {
			c.URL = s.with("day", "").URL()
		}
		if c.Count > 0 { // a bar is at least 2 pixels high
			height := max(2, int(c.Count*dayHeight/highest))
			h.Bars = append(h.Bars, dayBar{choice: c, X: h.Width, Y: dayHeight - height, Width: dayWidth, Height: height})
			h.Days = append(h.Days, c)
		}
		h.Width += dayWidth + dayGap
	}
	h.Width -= dayGap
	slices.Reverse(h.Days)
	return h
}

// day formats a day: "1 Mar 2026".
func day(iso string) string {
	at, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		return iso
	}
	return at.Format("2 Jan 2006")
}

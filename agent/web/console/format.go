package console

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/storage"
)

// count formats a number, not negative, with thousands separators.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// plural formats a count with its noun: "1 feed", "2,000 feeds".
func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + one + "s"
}

// size formats a number of bytes.
func size(bytes int64) string {
	n, units := float64(bytes), []string{"B", "KB", "MB", "GB", "TB"}
	for len(units) > 1 && n >= 999.5 {
		n, units = n/1000, units[1:]
	}
	if n < 9.95 && n != math.Trunc(n) {
		return fmt.Sprintf("%.1f %s", n, units[0])
	}
	return fmt.Sprintf("%.0f %s", n, units[0])
}

// percent formats a ratio. A positive ratio is never formatted as 0 %.
func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// span formats a number of seconds in its largest unit: "3 hours".
func span(seconds float64) string {
	units := []struct {
		name    string
		seconds float64
	}{
		{"year", 365 * 24 * 3600}, {"month", 30 * 24 * 3600}, {"day", 24 * 3600},
		{"hour", 3600}, {"minute", 60},
	}
	for _, u := range units {
		if seconds >= u.seconds {
			return plural(int64(seconds/u.seconds), u.name)
		}
	}
	return plural(int64(seconds), "second")
}

// rate formats items a day; empty if unknown.
func rate(perDay float64) string {
	switch {
	case perDay <= 0:
		return ""
	case perDay < 1.0/30:
		return "less than one a month"
	case perDay < 1:
		return "one in " + plural(int64(1/perDay+.5), "day")
	}
	return fmt.Sprintf("%.3g a day", perDay)
}

// A timestamp is a time formatted for people and machines.
type timestamp struct{ ISO, Ago, Full string }

// newTimestamp returns nil for the zero time.
func newTimestamp(t, now time.Time) *timestamp {
	if t.IsZero() {
		return nil
	}
	return &timestamp{
		ISO:  t.UTC().Format(time.RFC3339),
		Full: t.UTC().Format("2 Jan 2006, 15:04 UTC"),
		Ago:  ago(now.Sub(t)),
	}
}

func ago(d time.Duration) string {
	switch {
	case d <= -time.Minute:
		return "in " + span(-d.Seconds())
	case d < time.Minute:
		return "just now"
	}
	return span(d.Seconds()) + " ago"
}

// host returns the host of a web URL, else "".
func host(address string) string {
	u, err := url.Parse(storage.WebURL(address))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

// tenth formats a number with one decimal.
func tenth(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }

// hundredth formats a number with two decimals.
func hundredth(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) }

// A grid is the table of a chart's data: columns with headings, and rows of unformatted values.
type grid struct {
	Columns []column
	Rows    [][]string
}

// gridOf returns an empty grid. All columns but the first are numeric.
func gridOf(headings ...string) grid {
	var g grid
	for i, heading := range headings {
		class := numberClass
		if i == 0 {
			class = ""
		}
		g.Columns = append(g.Columns, column{heading, class})
	}
	return g
}

func (g *grid) add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = fmt.Sprint(cell)
	}
	g.Rows = append(g.Rows, row)
}

// writeCSV writes the grid as CSV (RFC 4180).
func (g grid) writeCSV(to io.Writer) {
	w := csv.NewWriter(to)
	w.UseCRLF = true
	headings := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		headings[i] = service.CSVCell(c.Label)
	}
	w.Write(headings) // write errors mean that the client has closed the connection
	for _, row := range g.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = service.CSVCell(cell)
		}
		w.Write(cells)
	}
	w.Flush()
}

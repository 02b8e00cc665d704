package locale

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Count returns a number with separators of thousands.
func Count(n int64) Text { return T("%d", n) }

// Plural returns a count with its English noun, which takes an s: "1 feed", "2,000 feeds".
func Plural(n int64, noun string) Text { return N(n, "%d "+noun, "%d "+noun+"s") }

// byteUnits are the units of sizes, each a thousand of the one before.
var byteUnits = []string{"%v B", "%v KB", "%v MB", "%v GB", "%v TB"}

// Bytes returns a number of bytes in the largest unit: "1.5 MB".
func Bytes(bytes int64) Text {
	n, units := float64(bytes), byteUnits
	for len(units) > 1 && n >= 999.5 {
		n, units = n/1000, units[1:]
	}
	if n < 9.95 {
		return T(units[0], math.Round(10*n)/10)
	}
	return T(units[0], math.Round(n))
}

// Percent returns a ratio. A positive ratio is never 0 %.
func Percent(share float64) Text {
	if share > 0 && share < 0.01 {
		return Data("<1 %")
	}
	return Data(strconv.FormatFloat(100*share, 'f', 0, 64) + " %")
}

// A unit of time has its texts for lengths, for the past and for the future.
type unit struct {
	seconds                                    float64
	one, several, onePast, past, oneNext, next string
}

// units are ordered from the longest to the shortest.
var units = []unit{
	{365 * 24 * 3600, "%d year", "%d years", "%d year ago", "%d years ago", "in %d year", "in %d years"},
	{30 * 24 * 3600, "%d month", "%d months", "%d month ago", "%d months ago", "in %d month", "in %d months"},
	{24 * 3600, "%d day", "%d days", "%d day ago", "%d days ago", "in %d day", "in %d days"},
	{3600, "%d hour", "%d hours", "%d hour ago", "%d hours ago", "in %d hour", "in %d hours"},
	{60, "%d minute", "%d minutes", "%d minute ago", "%d minutes ago", "in %d minute", "in %d minutes"},
	{1, "%d second", "%d seconds", "%d second ago", "%d seconds ago", "in %d second", "in %d seconds"},
}

// inUnit returns the largest unit of a length, and the length in it.
func inUnit(seconds float64) (unit, int64) {
	for _, u := range units {
		if seconds >= u.seconds {
			return u, int64(seconds / u.seconds)
		}
	}
	return units[len(units)-1], int64(seconds)
}

// Span returns a number of seconds in its largest unit: "3 hours".
func Span(seconds float64) Text {
	u, n := inUnit(seconds)
	return N(n, u.one, u.several)
}

// Ago returns the time since an event, negative for one in the future: "3 hours ago".
func Ago(since time.Duration) Text {
	switch {
	case since <= -time.Minute:
		u, n := inUnit(-since.Seconds())
		return N(n, u.oneNext, u.next)
	case since < time.Minute:
		return T("just now")
	}
	u, n := inUnit(since.Seconds())
	return N(n, u.onePast, u.past)
}

// Rate returns a number of items a day; nil if it is not positive.
func Rate(perDay float64) Text {
	switch {
	case perDay <= 0:
		return nil
	case perDay < 1.0/30:
		return T("less than one a month")
	case perDay < 1:
		return N(int64(1/perDay+.5), "one in %d day", "one in %d days")
	}
	return T("%v a day", Data(strconv.FormatFloat(perDay, 'g', 3, 64)))
}

// A Timestamp is a time for people and machines.
type Timestamp struct {
	ISO  string // of RFC 3339, in UTC
	Ago  Text
	Full Text
}

// NewTimestamp returns nil for the zero time.
func NewTimestamp(t, now time.Time) *Timestamp {
	if t.IsZero() {
		return nil
	}
	return &Timestamp{ISO: t.UTC().Format(time.RFC3339), Full: Date(t.UTC(), "2 Jan 2006, 15:04 UTC"), Ago: Ago(now.Sub(t))}
}

// Date returns a time in a layout of package time, with the names of the language.
func Date(t time.Time, layout string) Text { return date{t, layout} }

type date struct {
	at     time.Time
	layout string
}

// In formats the time.
func (d date) In(l *Language) string {
	text := d.at.Format(d.layout)
	for _, name := range []string{d.at.Month().String(), d.at.Weekday().String(), d.at.Month().String()[:3], d.at.Weekday().String()[:3]} {
		if t, found := l.load().Interface[name]; found {
			text = strings.Replace(text, name, t.Other, 1)
		}
	}
	return text
}

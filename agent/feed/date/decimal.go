package date

import (
	"strconv"
	"strings"
	"time"
)

// isDecimal reports whether s is all digits, with at most one point inside.
func isDecimal(s string) bool {
	points := 0
	for i := range len(s) {
		switch {
		case s[i] == '.' && 0 < i && i < len(s)-1:
			points++
		case !isDigit(s[i]):
			return false
		}
	}
	return s != "" && points <= 1
}

// parseDecimal reads a text without anything but digits by how many there are:
// a year, a day as YYYYDDD or YYYYMMDD, a moment as YYYYMMDDHHMM or with
// seconds, or else what [ParseSeconds] reads. Twelve digits that are a moment
// are milliseconds too, but of the year 1976. Six digits can be YYMMDD and
// YYYYMM, and are refused.
func parseDecimal(s string) (time.Time, bool) {
	c, clock := civil{}, "0000"
	n := func(i, j int) int { return number(s[i:j]) }
	switch {
	case strings.Contains(s, "."):
		return parseEpoch(s)
	case len(s) == 4:
		c = civil{n(0, 4), 1, 1}
	case len(s) == 7:
		c, _ = ofOrdinal(n(0, 4), n(4, 7))
	case len(s) == 8:
		c = civil{n(0, 4), n(4, 6), n(6, 8)}
	case len(s) == 12 || len(s) == 14:
		c, clock = civil{n(0, 4), n(4, 6), n(6, 8)}, s[8:]
	}
	if r := (reading{day: c}); c.valid() && c.year >= minYear && c.year <= maxYear && r.setCompactClock(clock) {
		return r.moment()
	}
	return parseEpoch(s)
}

// parseEpoch reads seconds or milliseconds since 1970 began.
func parseEpoch(s string) (time.Time, bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return time.Time{}, false
	}
	return ParseSeconds(n)
}

// number returns the number that a few digits are.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

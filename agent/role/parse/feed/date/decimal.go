package date

import (
	"strconv"
	"strings"
	"time"
)

// isDecimal reports whether s consists of digits with at most one point between them.
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

// parseDecimal parses a text of digits according to its length: a year, a day as YYYYDDD or YYYYMMDD, a
// moment as YYYYMMDDHHMM with optional seconds, or else a number for [ParseSeconds]. Twelve digits that are a
// valid moment would also be milliseconds of the year 1976. Six digits are rejected because they can be
// YYMMDD or YYYYMM.
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
	if r := (parser{day: c}); c.valid() && c.year >= minYear && c.year <= maxYear && r.setCompactClock(clock) {
		return r.resolve()
	}
	return parseEpoch(s)
}

// parseEpoch parses seconds or milliseconds since 1970 began.
func parseEpoch(s string) (time.Time, bool) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return time.Time{}, false
	}
	return ParseSeconds(n)
}

// number returns the value of a few digits.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

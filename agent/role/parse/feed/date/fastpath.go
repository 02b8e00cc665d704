package date

import "time"

// Nine of ten dates have one of two forms. The functions below parse them without splitting the text into
// tokens, and leave any deviation to the parser.

// parseRFC3339 parses 2026-03-04T05:06:07Z, optionally with a fraction or an offset.
func parseRFC3339(s string) (time.Time, bool) {
	if len(s) < len("2026-03-04T05:06:07Z") || s[4] != '-' || s[7] != '-' || s[10] != 'T' {
		return time.Time{}, false
	}
	day, ok := civil{twoDigits(s, 0)*100 + twoDigits(s, 2), twoDigits(s, 5), twoDigits(s, 8)}, true
	nanoseconds, rest := 0, s[19:]
	if rest[0] == '.' {
		n := 1
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		nanoseconds, ok = fraction(rest[1:n])
		rest = rest[n:]
	}
	offset, known := fixedOffset(rest)
	return fixedTime(day, s[11:19], nanoseconds, offset, ok && known)
}

// parseRFC1123 parses Wed, 04 Mar 2026 05:06:07 +0000, also with GMT or a one-digit day. It ignores the
// weekday, which is sometimes wrong.
func parseRFC1123(s string) (time.Time, bool) {
	if len(s) < len("Wed, 4 Mar 2026 05:06:07 GMT") || s[3] != ',' || s[4] != ' ' ||
		!isLetter(s[0]) || !isLetter(s[1]) || !isLetter(s[2]) {
		return time.Time{}, false
	}
	day, rest := twoDigits(s, 5), s[7:]
	if s[6] == ' ' && isDigit(s[5]) {
		day, rest = int(s[5]-'0'), s[6:]
	}
	if len(rest) < len(" Mar 2026 05:06:07 GMT") || rest[0] != ' ' || rest[4] != ' ' || rest[9] != ' ' || rest[18] != ' ' {
		return time.Time{}, false
	}
	offset, known := fixedOffset(rest[19:])
	c := civil{twoDigits(rest, 5)*100 + twoDigits(rest, 7), englishMonth(rest[1:4]), day}
	return fixedTime(c, rest[10:18], 0, offset, known)
}

// fixedTime combines a day, a clock as 05:06:07 and an offset in minutes.
func fixedTime(c civil, clock string, nanoseconds, offset int, ok bool) (time.Time, bool) {
	h, m, s := twoDigits(clock, 0), twoDigits(clock, 3), twoDigits(clock, 6)
	if !ok || !c.valid() || c.year < minYear || c.year > maxYear || clock[2] != ':' || clock[5] != ':' ||
		h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 59 {
		return time.Time{}, false
	}
	return time.Date(c.year, time.Month(c.month), c.day, h, m-offset, s, nanoseconds, time.UTC), true
}

// fixedOffset returns the minutes east of UTC of Z, GMT, +0300 or +03:00.
func fixedOffset(s string) (minutes int, ok bool) {
	switch {
	case s == "Z" || s == "GMT":
		return 0, true
	case len(s) == 5 && isSign(s[0]):
		return offset(s[0], twoDigits(s, 1), twoDigits(s, 3))
	case len(s) == 6 && isSign(s[0]) && s[3] == ':':
		return offset(s[0], twoDigits(s, 1), twoDigits(s, 4))
	}
	return 0, false
}

// twoDigits returns the number of two digits at s[i:]. For other characters it returns a number so far below
// zero that every sum with it is invalid.
func twoDigits(s string, i int) int {
	if !isDigit(s[i]) || !isDigit(s[i+1]) {
		return -1 << 20
	}
	return int(s[i]-'0')*10 + int(s[i+1]-'0')
}

func isDigit(b byte) bool  { return '0' <= b && b <= '9' }
func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
func isSign(b byte) bool   { return b == '+' || b == '-' }

// englishMonth returns the month of an English abbreviation, or 0.
func englishMonth(s string) int {
	switch s {
	case "Jan":
		return 1
	case "Feb":
		return 2
	case "Mar":
		return 3
	case "Apr":
		return 4
	case "May":
		return 5
	case "Jun":
		return 6
	case "Jul":
		return 7
	case "Aug":
		return 8
	case "Sep":
		return 9
	case "Oct":
		return 10
	case "Nov":
		return 11
	case "Dec":
		return 12
	}
	return 0
}

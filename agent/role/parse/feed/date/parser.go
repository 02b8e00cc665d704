package date

// A parser accumulates the parts of a date.
type parser struct {
	tokens  tokens
	lang    string
	country string // in capitals

	day        civil      // set by numbers in a fixed order, else zero
	yearDigits int        // of the year in day or in the triple, 0 if unknown
	unplaced   [3]numeral // numbers that are a day, a month or a year
	nunplaced  int
	separator  byte // separator of three unplaced numbers, ' ' if they have no common one

	month          int // from a name, 1 to 12, or 0
	monthAt        int // number of unplaced numbers before it
	monthAsWeekday int // weekday that the month's name could mean too, or 0
	weekday        int // 1 for Sunday to 7, or 0

	weekdayRequired bool // the day must have this weekday

	hasClock, hasSeconds, hasT        bool
	hour, minute, second, nanoseconds int
	half                              dayHalf

	zone parsedZone
}

// A numeral is a number with its count of digits.
type numeral struct{ value, digits int }

// read parses all tokens. It returns false at the first token without a meaning.
func (r *parser) read() bool {
	for i := 0; i < r.tokens.n; {
		n := 0
		switch r.tokens.at(i).kind {
		case digits:
			n = r.readNumber(i)
		case word:
			n = r.readWord(i)
		case symbol:
			n = r.readSign(i)
		}
		if n == 0 {
			return false
		}
		i += n
	}
	return true
}

// The methods below parse the part that begins with the token at i. They return its number of tokens, or 0 if
// they can't parse it.

// readSign parses a symbol that does not belong to a preceding number.
func (r *parser) readSign(i int) int {
	betweenNumbers := r.tokens.at(i-1).kind == digits && r.tokens.adjacent(i) &&
		r.tokens.at(i+1).kind == digits && r.tokens.adjacent(i+1)
	switch r.tokens.charAt(i) {
	case ',':
		return 1
	case '.', '/':
		if betweenNumbers && !r.beforeYear(i+1) {
			return 0
		}
		return 1
	case '+', '-':
		if n := r.readOffset(i); n > 0 {
			return n
		}
		return r.readDash(i)
	case ':':
		if r.month != 0 && r.tokens.digitsAt(i-1) == 4 && betweenNumbers {
			return 1 // the format of web server logs: 04/Mar/2026:05:06:07
		}
		return 0
	case '(', '[':
		return r.readComment(i)
	case ')', ']':
		return 1
	}
	return 0
}

// readDash parses a dash between words or, with spaces, between any tokens. A dash adjacent to the following
// number is ambiguous.
func (r *parser) readDash(i int) int {
	touches := r.tokens.at(i+1).kind == digits && r.tokens.adjacent(i+1)
	afterWord := r.tokens.at(i-1).kind == word && r.tokens.adjacent(i)
	if r.tokens.charAt(i) == '+' || touches && !afterWord && !r.beforeYear(i+1) {
		return 0
	}
	return 1
}

// beforeYear reports whether the number at i must be the year after a month's name and a day: Mar-04-2026.
func (r *parser) beforeYear(i int) bool {
	return r.month != 0 && r.nunplaced == 1 && r.tokens.digitsAt(i) == 4 && r.tokens.digitsAt(i-2) > 0 && r.tokens.adjacent(i-1)
}

// readComment skips text in brackets if the zone is set already, since it is the zone's name. Otherwise the
// text counts.
func (r *parser) readComment(i int) int {
	if !r.zone.known {
		return 1
	}
	for n := 1; i+n < r.tokens.n; n++ {
		if mark := r.tokens.charAt(i + n); mark == ')' || mark == ']' {
			return n + 1
		}
	}
	return 0
}

// readOffset parses +0300, +03:00, +03, +3 or +5:30 after a clock. After a day it must have four digits and
// follow white space.
func (r *parser) readOffset(i int) int {
	t := &r.tokens
	first, length := t.at(i+1), t.digitsAt(i+1)
	if length == 0 || !t.adjacent(i+1) || r.zone.offset {
		return 0
	}
	if !r.hasClock && !(t.at(i).spaced && length == 4 && r.hasWholeDay()) {
		return 0
	}
	h, m, n := first.value, 0, 2
	switch {
	case length > 4:
		return 0
	case length > 2:
		h, m = first.value/100, first.value%100
	case t.charAt(i+2) == ':' && t.adjacent(i+2) && t.adjacent(i+3):
		if t.digitsAt(i+3) != 2 {
			return 0
		}
		m, n = t.at(i+3).value, 4
	}
	if length <= 2 && r.endsRange(i) {
		return 0
	}
	minutes, ok := offset(t.charAt(i), h, m)
	if !ok {
		return 0
	}
	r.zone.known, r.zone.offset, r.zone.minutes = true, true, minutes
	return n
}

// endsRange reports whether the minus at i may separate two clocks of a range, as in 10:00-12:00 or 10:00-12.
// After seconds, after a T before the clock, or after white space it starts an offset.
func (r *parser) endsRange(i int) bool {
	return r.tokens.charAt(i) == '-' && !r.hasSeconds && !r.hasT &&
		r.tokens.adjacent(i) && r.tokens.at(i-1).kind == digits
}

// setZone sets the zone from a name of n tokens. A second name must have the same meaning.
func (r *parser) setZone(z zone, n int) int {
	if r.zone.named && r.zone.name != z {
		return 0
	}
	r.zone.known, r.zone.named, r.zone.name = true, true, z
	r.zone.nameFirst = !r.zone.offset
	return n
}

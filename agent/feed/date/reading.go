package date

// A reading is what has been read of a date.
type reading struct {
	tokens tokens
	lang   string

	day        civil     // zero until told by numbers in a certain order
	yearDigits int       // of the day's or the triple's year, 0 if unknown
	loose      [3]figure // numbers that are a day, a month or a year
	nloose     int
	between    byte // the sign between three loose numbers, ' ' for none in particular

	month   int // as a name, 1 to 12, or 0
	monthAt int // how many loose numbers stood before it
	alsoDay int // the weekday that the month's name may be too, or 0
	weekday int // 1 for Sunday to 7, or 0

	mustAgree bool // the weekday must be the day's

	hasClock, hasSeconds, hasT        bool
	hour, minute, second, nanoseconds int
	half                              half

	zone zoneReading
}

// A figure is a number and how many digits it is written with.
type figure struct{ value, digits int }

// half is of the day.
type half uint8

const (
	anyHalf half = iota
	beforeNoon
	afterNoon
)

// read reads all tokens. It returns false as soon as one makes no sense.
func (r *reading) read() bool {
	for i := 0; i < r.tokens.n; {
		n := 0
		switch r.tokens.at(i).kind {
		case digits:
			n = r.readNumber(i)
		case word:
			n = r.readWord(i)
		case sign:
			n = r.readSign(i)
		}
		if n == 0 {
			return false
		}
		i += n
	}
	return true
}

// The methods below read what begins with the token at i. They return how many
// tokens that is, or 0 if they can't read it.

// readSign reads a sign that does not belong to a number before it.
func (r *reading) readSign(i int) int {
	betweenNumbers := r.tokens.at(i-1).kind == digits && r.tokens.glued(i) &&
		r.tokens.at(i+1).kind == digits && r.tokens.glued(i+1)
	switch r.tokens.markAt(i) {
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
			return 1 // of a web server's log: 04/Mar/2026:05:06:07
		}
		return 0
	case '(', '[':
		return r.readComment(i)
	case ')', ']':
		return 1
	}
	return 0
}

// readDash reads a dash that parts words or, with white space, anything. One
// that touches the number after it may be the sign of we don't know what.
func (r *reading) readDash(i int) int {
	touches := r.tokens.at(i+1).kind == digits && r.tokens.glued(i+1)
	afterWord := r.tokens.at(i-1).kind == word && r.tokens.glued(i)
	if r.tokens.markAt(i) == '+' || touches && !afterWord && !r.beforeYear(i+1) {
		return 0
	}
	return 1
}

// beforeYear reports whether the number at i must be the year after a month's
// name and a day: Mar-04-2026.
func (r *reading) beforeYear(i int) bool {
	return r.month != 0 && r.nloose == 1 && r.tokens.digitsAt(i) == 4 && r.tokens.digitsAt(i-2) > 0 && r.tokens.glued(i-1)
}

// readComment passes over all in brackets where the zone is known, for it is
// the zone's name in words. Elsewhere what is in brackets counts.
func (r *reading) readComment(i int) int {
	if !r.zone.known {
		return 1
	}
	for n := 1; i+n < r.tokens.n; n++ {
		if mark := r.tokens.markAt(i + n); mark == ')' || mark == ']' {
			return n + 1
		}
	}
	return 0
}

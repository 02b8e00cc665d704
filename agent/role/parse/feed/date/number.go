package date

import "strings"

// readNumber parses a number and its neighbors that belong to it.
func (r *parser) readNumber(i int) int {
	n := r.readClock(i)
	if n == 0 {
		n = r.readUnit(i)
	}
	if n == 0 {
		n = r.readISO(i)
	}
	if n == 0 {
		n = r.readPointedClock(i)
	}
	if n == 0 {
		n = r.readTriple(i)
	}
	if n == 0 {
		n = r.readCompact(i)
	}
	if n == 0 {
		n = r.readUnplaced(i)
	}
	return n
}

// readISO parses the forms of an ISO 8601 day other than year, month and day: 2026-W10-3, 2026W103, 2026-W10,
// 2026-063, 2026-03.
func (r *parser) readISO(i int) int {
	t, n := &r.tokens, 1
	if t.digitsAt(i) != 4 {
		return 0
	}
	year := t.at(i).value
	if t.charAt(i+n) == '-' && t.adjacent(i+n) && t.adjacent(i+n+1) {
		n++
	}
	switch next := t.at(i + n); {
	case next.kind == word && strings.EqualFold(next.text, "W") && t.adjacent(i+n):
		return r.readWeek(i, n+1)
	case n == 1 || r.endsInDash(i+n):
		return 0
	case t.digitsAt(i+n) == 3:
		c, ok := ofOrdinal(year, next.value)
		return r.setDay(c, ok, n+1)
	case t.digitsAt(i+n) == 2 && r.tokens.n == i+n+1 && !r.hasClock: // a month has no clock
		return r.setDay(civil{year, next.value, 1}, true, n+1)
	}
	return 0
}

// endsInDash reports whether a dash follows the token at i without a space.
func (r *parser) endsInDash(i int) bool {
	return r.tokens.charAt(i+1) == '-' && r.tokens.adjacent(i+1)
}

// readWeek parses the rest of a week, n tokens after the year at i.
func (r *parser) readWeek(i, n int) int {
	t := &r.tokens
	week, day := t.at(i+n).value, 1
	switch {
	case !t.adjacent(i + n):
		return 0
	case t.digitsAt(i+n) == 3:
		week, day = week/10, week%10
	case t.digitsAt(i+n) != 2:
		return 0
	case t.charAt(i+n+1) == '-' && t.digitsAt(i+n+2) == 1 && t.adjacent(i+n+1) && t.adjacent(i+n+2):
		day = t.at(i + n + 2).value
		n += 2
	}
	c, ok := ofWeek(t.at(i).value, week, day)
	return r.setDay(c, ok, n+1)
}

// readTriple parses three numbers with the same separator: a day, whose order is resolved after all tokens
// are read. Spaces may follow points.
func (r *parser) readTriple(i int) int {
	t := &r.tokens
	mark := t.charAt(i + 1)
	switch mark {
	case '-', '/', '.':
	case ':':
		if t.digitsAt(i) != 4 || r.month != 0 { // the format of photographs: 2026:03:04
			return 0
		}
	default:
		return 0
	}
	for j := 1; j <= 4; j++ {
		if j%2 == 0 && t.digitsAt(i+j) == 0 || j%2 == 1 && t.charAt(i+j) != mark ||
			!t.adjacent(i+j) && !(mark == '.' && j%2 == 0) {
			return 0
		}
	}
	if r.nunplaced > 0 {
		return 0
	}
	r.unplaced, r.nunplaced, r.separator = [3]numeral{t.numeral(i), t.numeral(i + 2), t.numeral(i + 4)}, 3, mark
	return 5
}

// readCompact parses a day without separators: 20260304 or 2026063.
func (r *parser) readCompact(i int) int {
	value := r.tokens.at(i).value
	switch r.tokens.digitsAt(i) {
	case 7:
		c, ok := ofOrdinal(value/1000, value%1000)
		return r.setDay(c, ok, 1)
	case 8:
		return r.setDay(civil{value / 1e4, value / 100 % 100, value % 100}, true, 1)
	case 14:
		text := r.tokens.at(i).text
		if !r.setCompactClock(text[8:]) {
			return 0
		}
		return r.setDay(civil{number(text[:4]), number(text[4:6]), number(text[6:8])}, true, 1)
	}
	return 0
}

// readUnplaced stores a number that is a day, a month or a year.
func (r *parser) readUnplaced(i int) int {
	if r.tokens.digitsAt(i) > 4 || r.nunplaced == len(r.unplaced) {
		return 0
	}
	r.unplaced[r.nunplaced] = r.tokens.numeral(i)
	r.nunplaced++
	r.separator = ' '
	return 1
}

// numeral returns the number at i.
func (t *tokens) numeral(i int) numeral {
	return numeral{t.at(i).value, t.digitsAt(i)}
}

// setDay sets a day of n tokens unless one is set already.
func (r *parser) setDay(c civil, ok bool, n int) int {
	if !ok || r.day != (civil{}) {
		return 0
	}
	r.day = c
	r.yearDigits = 4
	return n
}

// readUnit parses a number with its unit: 2026年.
func (r *parser) readUnit(i int) int {
	value, length := r.tokens.at(i).value, r.tokens.digitsAt(i)
	next := r.tokens.at(i + 1)
	unit := units[next.text]
	if next.kind != word || unit == 0 {
		return 0
	}
	target, want := r.unit(unit), 2
	if unit == unitYear {
		want, r.yearDigits = 4, 4
	}
	if *target != 0 || length > want || unit == unitYear && length != want || unit == unitHour && r.hasClock {
		return 0
	}
	r.hasClock = r.hasClock || unit == unitHour
	r.hasSeconds = r.hasSeconds || unit == unitSecond
	*target = value
	return 2
}

// unit returns the field for a unit's number.
func (r *parser) unit(u unit) *int {
	switch u {
	case unitYear:
		return &r.day.year
	case unitMonth:
		return &r.day.month
	case unitDay:
		return &r.day.day
	case unitHour:
		return &r.hour
	case unitMinute:
		return &r.minute
	}
	return &r.second
}

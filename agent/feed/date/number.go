package date

import "strings"

// readNumber reads a number and what belongs to it.
func (r *reading) readNumber(i int) int {
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
		n = r.readLoose(i)
	}
	return n
}

// readISO reads a day of ISO 8601 that has fewer or other parts than year,
// month and day: 2026-W10-3, 2026W103, 2026-W10, 2026-063, 2026-03.
func (r *reading) readISO(i int) int {
	t, n := &r.tokens, 1
	if t.digitsAt(i) != 4 {
		return 0
	}
	year := t.at(i).value
	if t.markAt(i+n) == '-' && t.glued(i+n) && t.glued(i+n+1) {
		n++
	}
	switch next := t.at(i + n); {
	case next.kind == word && strings.EqualFold(next.text, "W") && t.glued(i+n):
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

// endsInDash reports whether a dash touches the token at i from behind.
func (r *reading) endsInDash(i int) bool {
	return r.tokens.markAt(i+1) == '-' && r.tokens.glued(i+1)
}

// readWeek reads the rest of a week, n tokens after the year at i.
func (r *reading) readWeek(i, n int) int {
	t := &r.tokens
	week, day := t.at(i+n).value, 1
	switch {
	case !t.glued(i + n):
		return 0
	case t.digitsAt(i+n) == 3:
		week, day = week/10, week%10
	case t.digitsAt(i+n) != 2:
		return 0
	case t.markAt(i+n+1) == '-' && t.digitsAt(i+n+2) == 1 && t.glued(i+n+1) && t.glued(i+n+2):
		day = t.at(i + n + 2).value
		n += 2
	}
	c, ok := ofWeek(t.at(i).value, week, day)
	return r.setDay(c, ok, n+1)
}

// readTriple reads three numbers with the same sign between them: a day, whose
// order is settled when all is read. White space may follow points.
func (r *reading) readTriple(i int) int {
	t := &r.tokens
	mark := t.markAt(i + 1)
	switch mark {
	case '-', '/', '.':
	case ':':
		if t.digitsAt(i) != 4 || r.month != 0 { // of a photograph's: 2026:03:04
			return 0
		}
	default:
		return 0
	}
	for j := 1; j <= 4; j++ {
		if j%2 == 0 && t.digitsAt(i+j) == 0 || j%2 == 1 && t.markAt(i+j) != mark ||
			!t.glued(i+j) && !(mark == '.' && j%2 == 0) {
			return 0
		}
	}
	if r.nloose > 0 {
		return 0
	}
	r.loose, r.nloose, r.between = [3]figure{t.figure(i), t.figure(i + 2), t.figure(i + 4)}, 3, mark
	return 5
}

// readCompact reads a day without signs: 20260304 or 2026063.
func (r *reading) readCompact(i int) int {
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

// readLoose keeps a number that is a day, a month or a year.
func (r *reading) readLoose(i int) int {
	if r.tokens.digitsAt(i) > 4 || r.nloose == len(r.loose) {
		return 0
	}
	r.loose[r.nloose] = r.tokens.figure(i)
	r.nloose++
	r.between = ' '
	return 1
}

// figure returns the number at i.
func (t *tokens) figure(i int) figure {
	return figure{t.at(i).value, t.digitsAt(i)}
}

// setDay takes a day of n tokens, unless there is one already.
func (r *reading) setDay(c civil, ok bool, n int) int {
	if !ok || r.day != (civil{}) {
		return 0
	}
	r.day = c
	r.yearDigits = 4
	return n
}

// readUnit reads a number with its unit: 2026年.
func (r *reading) readUnit(i int) int {
	value, length := r.tokens.at(i).value, r.tokens.digitsAt(i)
	next := r.tokens.at(i + 1)
	unit := units[next.text]
	if next.kind != word || unit == 0 {
		return 0
	}
	target, want := r.unit(unit), 2
	if unit == ofYear {
		want, r.yearDigits = 4, 4
	}
	if *target != 0 || length > want || unit == ofYear && length != want || unit == ofHour && r.hasClock {
		return 0
	}
	r.hasClock = r.hasClock || unit == ofHour
	r.hasSeconds = r.hasSeconds || unit == ofSecond
	*target = value
	return 2
}

// unit returns where a unit's number belongs.
func (r *reading) unit(u unit) *int {
	switch u {
	case ofYear:
		return &r.day.year
	case ofMonth:
		return &r.day.month
	case ofDay:
		return &r.day.day
	case ofHour:
		return &r.hour
	case ofMinute:
		return &r.minute
	}
	return &r.second
}

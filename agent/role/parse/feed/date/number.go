package date

import "time"

// readNumber parses a number and its neighbors that belong to it.
func (r *parser) readNumber(i int) int {
	n := r.readClock(i)
	if n == 0 {
		n = r.readUnit(i)
	}
	if n == 0 {
		n = r.readPointedClock(i)
	}
	if n == 0 {
		n = r.readTriple(i)
	}
	if n == 0 {
		n = r.readForm(i)
	}
	if n == 0 {
		n = r.readUnplaced(i)
	}
	return n
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

// readForm parses a day of the table [forms].
func (r *parser) readForm(i int) int {
	for _, f := range forms {
		d, n := r.tokens.match(f.pattern, i)
		switch next := i + n; {
		case n == 0, f.before == noDash && r.tokens.charAt(next) == '-' && r.tokens.adjacent(next), f.before == end && (next < r.tokens.n || r.hasClock):
			continue
		case d.clock != "" && !r.setCompactClock(d.clock):
			return 0
		}
		day, ok := d.day(f.pattern)
		return r.setDay(day, ok, n)
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

// readClock parses 5:06, 05:06:07, 05:06:07.089, 17h06 or 5 pm.
func (r *parser) readClock(i int) int {
	t := &r.tokens
	if t.digitsAt(i) > 2 {
		return 0
	}
	hour, next := t.at(i).value, t.at(i+1)
	switch {
	case next.char == ':' && t.adjacent(i+1) && t.adjacent(i+2):
		return r.readColons(i)
	case next.kind == word && (next.text == "h" || next.text == "H"):
		if t.digitsAt(i+2) == 2 {
			return r.setClock(hour, t.at(i+2).value, 0, 3)
		}
		return r.setClock(hour, 0, 0, 2)
	case next.kind == word:
		half, n := r.halfAt(i + 1)
		if half == anyHalf {
			return 0
		}
		r.half = half
		return r.setClock(hour, 0, 0, 1+n)
	}
	return 0
}

// readColons parses a clock with colons.
func (r *parser) readColons(i int) int {
	t := &r.tokens
	if l := t.digitsAt(i + 2); l == 0 || l > 2 {
		return 0
	}
	hour, minute := t.at(i).value, t.at(i+2).value
	if t.charAt(i+3) != ':' || !t.adjacent(i+3) {
		return r.setClock(hour, minute, 0, 3)
	}
	if l := t.digitsAt(i + 4); l == 0 || l > 2 || !t.adjacent(i+4) {
		return 0
	}
	n := r.setClock(hour, minute, t.at(i+4).value, 5)
	r.hasSeconds = true
	return r.withFraction(i, n)
}

// withFraction parses an optional fraction of a second after the n tokens of a clock, and returns n plus its
// tokens, or 0 if n is 0.
func (r *parser) withFraction(i, n int) int {
	t := &r.tokens
	if mark := t.at(i + n); n == 0 || mark.text != "." && mark.text != "," ||
		t.digitsAt(i+n+1) == 0 || !t.adjacent(i+n) || !t.adjacent(i+n+1) {
		return n
	}
	nanoseconds, ok := fraction(t.at(i + n + 1).text)
	if !ok {
		return 0
	}
	r.nanoseconds = nanoseconds
	return n + 2
}

// fraction returns the nanoseconds of a second's decimals, truncated after the ninth.
func fraction(decimals string) (nanoseconds int, ok bool) {
	for i := range 9 {
		nanoseconds *= 10
		if i < len(decimals) {
			nanoseconds += int(decimals[i] - '0')
		}
	}
	return nanoseconds, decimals != ""
}

// readPointedClock parses 17.06 or 17.06.07 after a complete day, where no other meaning is possible.
func (r *parser) readPointedClock(i int) int {
	t := &r.tokens
	point := func(i int) bool {
		return t.charAt(i) == '.' && t.digitsAt(i+1) == 2 && t.adjacent(i) && t.adjacent(i+1)
	}
	if !r.hasWholeDay() || t.digitsAt(i) > 2 || !point(i+1) {
		return 0
	}
	if !point(i + 3) {
		return r.setClock(t.at(i).value, t.at(i+2).value, 0, 3)
	}
	return r.setClock(t.at(i).value, t.at(i+2).value, t.at(i+4).value, 5)
}

// hasWholeDay reports whether year, month and day have been parsed.
func (r *parser) hasWholeDay() bool {
	return r.day.day != 0 || r.nunplaced == 3 || r.nunplaced == 2 && r.month != 0
}

// readT parses the T between a day and a clock, and a compact clock after it: T05, T0506, T050607,
// T050607.089.
func (r *parser) readT(i int) int {
	t := &r.tokens
	if !r.hasWholeDay() || r.hasClock || t.at(i-1).kind != digits || t.at(i+1).kind != digits {
		return 0
	}
	r.hasT = true
	if t.charAt(i+2) == ':' {
		return 1
	}
	if !r.setCompactClock(t.at(i + 1).text) {
		return 0
	}
	if !r.hasSeconds {
		return 2
	}
	return r.withFraction(i, 2)
}

// setCompactClock sets a clock of two, four or six digits.
func (r *parser) setCompactClock(text string) bool {
	switch len(text) {
	case 2:
		return r.setClock(number(text), 0, 0, 1) > 0
	case 4:
		return r.setClock(number(text[:2]), number(text[2:]), 0, 1) > 0
	case 6:
		r.hasSeconds = true
		return r.setClock(number(text[:2]), number(text[2:4]), number(text[4:]), 1) > 0
	}
	return false
}

// setClock sets a clock of n tokens unless one is set already. [parser.sinceMidnight] validates it.
func (r *parser) setClock(hour, minute, second, n int) int {
	if r.hasClock {
		return 0
	}
	r.hasClock = true
	r.hour, r.minute, r.second = hour, minute, second
	return n
}

// sinceMidnight returns the time since the day began. 24:00 is the start of the next day, second 60 of a full
// hour its leap second. Hours after 12 may be combined with pm, and hour 0 with am.
func (r *parser) sinceMidnight() (time.Duration, bool) {
	h, m, s := r.hour, r.minute, r.second
	switch {
	case !r.hasClock:
		return 0, m == 0 && s == 0 && r.half == anyHalf
	case r.half == beforeNoon && h > 12, r.half == afterNoon && (h == 0 || h > 23):
		return 0, false
	case r.half == beforeNoon && h == 12:
		h = 0
	case r.half == afterNoon && h < 12:
		h += 12
	}
	if m > 59 || s > 60 || s == 60 && m != 59 || h > 24 || h == 24 && m+s+r.nanoseconds > 0 {
		return 0, false
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute +
		time.Duration(s)*time.Second + time.Duration(r.nanoseconds), true
}

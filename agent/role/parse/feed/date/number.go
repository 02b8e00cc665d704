package date

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

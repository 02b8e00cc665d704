package date

import "time"

// resolve returns the parsed moment, or false if it is ambiguous or invalid.
func (r *parser) resolve() (time.Time, bool) {
	day, ok := r.resolveDay()
	if !ok || !day.valid() || !r.isPlausible(day) || r.weekdayRequired && !r.weekdayMatches(day) {
		return time.Time{}, false
	}
	clock, ok := r.sinceMidnight()
	if !ok {
		return time.Time{}, false
	}
	t, ok := r.zone.toUTC(time.Date(day.year, time.Month(day.month), day.day, 0, 0, 0, 0, time.UTC).Add(clock))
	if !ok || t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

// isPlausible reports whether the day's year is plausible for a feed. Years outside the range need a form of
// ISO 8601 or RFC 822 with time and zone, and the latter also a correct weekday, because some programs count
// years from other epochs.
func (r *parser) isPlausible(day civil) bool {
	if day.year >= minYear && day.year <= maxYear {
		return true
	}
	return r.hasClock && r.zone.known && r.yearDigits == 4 &&
		(r.hasT || r.weekdayMatches(day))
}

// weekdayMatches reports whether the parsed weekday is the day's.
func (r *parser) weekdayMatches(day civil) bool {
	return r.weekday == int(day.weekday())+1
}

// resolveDay returns the day that numbers and names describe.
func (r *parser) resolveDay() (civil, bool) {
	switch {
	case r.day != (civil{}):
		return r.resolveOrdered()
	case r.nunplaced == 3 && (r.month == 0 || r.monthAsWeekday != 0 && r.separator != ' '):
		if r.month != 0 {
			r.weekday = r.monthAsWeekday
		}
		return r.resolveTriple()
	case r.month != 0:
		return r.resolveNamed()
	}
	return civil{}, false
}

// resolveOrdered returns a day whose parts had a fixed order. Units may omit the day of the month.
func (r *parser) resolveOrdered() (civil, bool) {
	day := r.day
	if day.day == 0 && r.hasOnlyMonth() {
		day.day = 1
	}
	return day, r.nunplaced == 0 && r.month == 0
}

// hasOnlyMonth reports whether clock and weekday, which a month does not have, are unset.
func (r *parser) hasOnlyMonth() bool {
	return !r.hasClock && r.weekday == 0
}

// resolveNamed returns the day with a month's name: 4 March 2026, March 4, 2026, 2026 March 4, or the first
// of the month if neither a day nor a clock is set.
func (r *parser) resolveNamed() (civil, bool) {
	a, b := r.unplaced[0], r.unplaced[1]
	switch {
	case r.nunplaced == 1:
		return r.civil(a, r.month, 1), a.digits == 4 && r.hasOnlyMonth()
	case r.nunplaced != 2:
		return civil{}, false
	case a.digits == 4 && r.monthAt == 1:
		return r.civil(a, r.month, b.value), b.digits <= 2
	case r.monthAt == 1:
		return r.civil(b, r.month, a.value), a.digits <= 2
	case r.monthAt == 0:
		return r.civil(b, r.month, a.value), a.digits <= 2 && b.digits == 4
	}
	return civil{}, false
}

// resolveTriple returns the day that three numbers mean if only one order is valid, or only one matches the
// weekday. With points the day precedes the month.
func (r *parser) resolveTriple() (civil, bool) {
	a, b, c := r.unplaced[0], r.unplaced[1], r.unplaced[2]
	if a.digits == 4 { // Google has written 2003-012-31
		return r.civil(a, b.value, c.value), b.digits <= 3 && c.digits <= 2
	}
	if a.digits > 2 || b.digits > 2 || c.digits != 2 && c.digits != 4 {
		return civil{}, false
	}
	orders := []civil{r.civil(c, b.value, a.value)}
	if r.separator != '.' {
		orders = append(orders, r.civil(c, a.value, b.value))
	}
	if c.digits == 2 && a.digits == 2 {
		orders = append(orders, r.civil(a, b.value, c.value))
	}
	return r.onlyPossible(orders)
}

// onlyPossible returns the only valid day, or the only day that matches the weekday.
func (r *parser) onlyPossible(orders []civil) (day civil, ok bool) {
	possible, agreeing := 0, 0
	var agreed civil
	for _, c := range orders {
		if !c.valid() || c == day || c == agreed {
			continue
		}
		possible++
		day = c
		if r.weekdayMatches(c) {
			agreeing++
			agreed = c
		}
	}
	if agreeing == 1 {
		return agreed, true
	}
	return day, possible == 1
}

// civil returns a day of a year that may have two digits. The day is invalid if the year is.
func (r *parser) civil(year numeral, month, day int) civil {
	full, ok := fullYear(year.value, year.digits)
	if !ok {
		return civil{}
	}
	r.yearDigits = year.digits
	return civil{full, month, day}
}

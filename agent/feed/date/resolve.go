package date

import "time"

// moment returns what has been read, if it is one moment surely.
func (r *reading) moment() (time.Time, bool) {
	day, ok := r.resolveDay()
	if !ok || !day.valid() || !r.believable(day) || r.mustAgree && !r.agrees(day) {
		return time.Time{}, false
	}
	clock, ok := r.sinceMidnight()
	if !ok {
		return time.Time{}, false
	}
	t, ok := r.zone.inUTC(time.Date(day.year, time.Month(day.month), day.day, 0, 0, 0, 0, time.UTC).Add(clock))
	if !ok || t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

// believable reports whether the day's year is one that feeds have. Other years
// are taken only in a form of ISO 8601 or RFC 822 with time and zone, and in the
// latter only if the weekday is right, for there are programs that count years
// from other beginnings.
func (r *reading) believable(day civil) bool {
	if day.year >= minYear && day.year <= maxYear {
		return true
	}
	return r.hasClock && r.zone.known && r.yearDigits == 4 &&
		(r.hasT || r.agrees(day))
}

// agrees reports whether the weekday that was told is the day's.
func (r *reading) agrees(day civil) bool {
	return r.weekday == int(day.weekday())+1
}

// resolveDay returns the day that numbers and names tell.
func (r *reading) resolveDay() (civil, bool) {
	switch {
	case r.day != (civil{}):
		return r.resolveTold()
	case r.nloose == 3 && (r.month == 0 || r.alsoDay != 0 && r.between != ' '):
		if r.month != 0 {
			r.weekday = r.alsoDay
		}
		return r.resolveTriple()
	case r.month != 0:
		return r.resolveNamed()
	}
	return civil{}, false
}

// resolveTold returns the day that was told in parts of a certain order. Units
// may have left out the day of a month.
func (r *reading) resolveTold() (civil, bool) {
	day := r.day
	if day.day == 0 && r.hasOnlyMonth() {
		day.day = 1
	}
	return day, r.nloose == 0 && r.month == 0
}

// hasOnlyMonth reports whether nothing has been told that a month has not.
func (r *reading) hasOnlyMonth() bool {
	return !r.hasClock && r.weekday == 0
}

// resolveNamed returns the day around a month's name: 4 March 2026, March 4,
// 2026, 2026 March 4, or its first if there is none and no clock.
func (r *reading) resolveNamed() (civil, bool) {
	a, b := r.loose[0], r.loose[1]
	switch {
	case r.nloose == 1:
		return r.civil(a, r.month, 1), a.digits == 4 && r.hasOnlyMonth()
	case r.nloose != 2:
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

// resolveTriple returns the day that three numbers tell, if there is but one
// order in which they are a day, or but one that agrees with the weekday.
// Between points the day is before the month.
func (r *reading) resolveTriple() (civil, bool) {
	a, b, c := r.loose[0], r.loose[1], r.loose[2]
	if a.digits == 4 { // Google has written 2003-012-31
		return r.civil(a, b.value, c.value), b.digits <= 3 && c.digits <= 2
	}
	if a.digits > 2 || b.digits > 2 || c.digits != 2 && c.digits != 4 {
		return civil{}, false
	}
	orders := []civil{r.civil(c, b.value, a.value)}
	if r.between != '.' {
		orders = append(orders, r.civil(c, a.value, b.value))
	}
	if c.digits == 2 && a.digits == 2 {
		orders = append(orders, r.civil(a, b.value, c.value))
	}
	return r.only(orders)
}

// only returns the one day of several that is possible, or the one that agrees
// with the weekday.
func (r *reading) only(orders []civil) (day civil, ok bool) {
	possible, agreeing := 0, 0
	var agreed civil
	for _, c := range orders {
		if !c.valid() || c == day || c == agreed {
			continue
		}
		possible++
		day = c
		if r.agrees(c) {
			agreeing++
			agreed = c
		}
	}
	if agreeing == 1 {
		return agreed, true
	}
	return day, possible == 1
}

// civil returns a day of a year that may be written in two digits. It is not
// valid if the year is not.
func (r *reading) civil(year figure, month, day int) civil {
	full, ok := fullYear(year.value, year.digits)
	if !ok {
		return civil{}
	}
	r.yearDigits = year.digits
	return civil{full, month, day}
}

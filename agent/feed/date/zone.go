package date

import "time"

// A zone is what a name of one means.
type zone struct {
	minutes int  // east of UTC
	rule    rule // that says when it is so, or what else it is
}

var utc = zone{}

// A rule depends on the day.
type rule uint8

const (
	always     rule = iota
	ofMoscow        // an hour more from March 27, 2011 to October 26, 2014
	summerOnly      // refused in winter, by the European calendar
	ofUSClocks      // an hour more in summer, by the calendar of the United States
	ofEUClocks      // an hour more in summer, by the European calendar
	ambiguous       // refused without an offset in numbers
	letter          // as good as UTC, and as nothing after an offset
)

// A zoneReading is what has been read of a date's zone.
type zoneReading struct {
	known     bool // by offset or by name
	offset    bool // minutes are as written in numbers
	minutes   int
	named     bool
	nameFirst bool // the name stands before the offset
	name      zone
	since     int // the year from which the name's rule holds
}

// readOffset reads +0300, +03:00, +03, +3 or +5:30 after a clock, or after a
// day if white space stands before it and it has four digits.
func (r *reading) readOffset(i int) int {
	t := &r.tokens
	first, length := t.at(i+1), t.digitsAt(i+1)
	if length == 0 || !t.glued(i+1) || r.zone.offset {
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
	case t.markAt(i+2) == ':' && t.glued(i+2) && t.glued(i+3):
		if t.digitsAt(i+3) != 2 {
			return 0
		}
		m, n = t.at(i+3).value, 4
	}
	if length <= 2 && r.endsRange(i) {
		return 0
	}
	minutes, ok := offset(t.markAt(i), h, m)
	if !ok {
		return 0
	}
	r.zone.known, r.zone.offset, r.zone.minutes = true, true, minutes
	return n
}

// endsRange reports whether the minus at i may stand between the clocks of a
// beginning and an end, as in 10:00-12:00 or 10:00-12. An offset follows seconds, a T
// before the clock, or white space.
func (r *reading) endsRange(i int) bool {
	return r.tokens.markAt(i) == '-' && !r.hasSeconds && !r.hasT &&
		r.tokens.glued(i) && r.tokens.at(i-1).kind == digits
}

// offset returns the minutes east of UTC of a sign, hours and minutes, if any
// place on Earth has them.
func offset(sign byte, hours, minutes int) (int, bool) {
	sum := hours*60 + minutes
	switch {
	case hours < 0 || minutes < 0 || minutes > 59:
		return 0, false
	case sign == '-':
		return -sum, sum <= 12*60
	}
	return sum, sum <= 14*60
}

// setZone takes the zone that a name of n tokens tells. A second name must mean
// the same.
func (r *reading) setZone(z zone, n int) int {
	if r.zone.named && r.zone.name != z {
		return 0
	}
	r.zone.known, r.zone.named, r.zone.name = true, true, z
	r.zone.nameFirst = !r.zone.offset
	return n
}

// inUTC returns the moment when clocks of the zone that has been read show t,
// or false if there is no telling. A name and an offset must say the same,
// but that an offset may follow UTC, and may stand before or after a name that
// means little without it.
func (z zoneReading) inUTC(t time.Time) (time.Time, bool) {
	minutes, ok := z.minutes, true
	if z.named {
		minutes, ok = z.name.at(t)
		ok = ok && t.Year() >= z.since
	}
	if z.named && z.offset {
		ok = !ok || minutes == z.minutes || z.nameFirst && z.name == utc || !z.nameFirst && z.name.rule == letter
		minutes = z.minutes
	}
	return t.Add(-time.Duration(minutes) * time.Minute), ok
}

// at returns the zone's minutes east of UTC when its clocks show t. It is false
// where there is no telling, as in the hour that summer time skips or repeats.
func (z zone) at(t time.Time) (minutes int, ok bool) {
	switch z.rule {
	case ofUSClocks, ofEUClocks, ofMoscow:
		summer, ok := isSummer(t, z)
		if summer {
			return z.minutes + 60, ok
		}
		return z.minutes, ok
	case summerOnly:
		summer, ok := isSummer(t, zone{z.minutes - 60, ofEUClocks})
		return z.minutes, summer && ok
	case ambiguous:
		return 0, false
	}
	return z.minutes, true
}

package date

import "time"

// A zone is the meaning of a zone's name.
type zone struct {
	minutes int  // east of UTC
	rule    rule // period of its validity, or its special meaning
}

var utc = zone{}

// A rule adjusts or rejects a zone's offset, some by the day.
type rule uint8

const (
	ruleFixed      rule = iota
	ruleMoscow          // an hour more from March 27, 2011 to October 26, 2014
	ruleSummerOnly      // rejected in winter, by the European calendar
	ruleUS              // an hour more in summer, by the calendar of the United States
	ruleEU              // an hour more in summer, by the European calendar
	ruleAmbiguous       // rejected without a numeric offset
	ruleLetter          // means UTC, or nothing after an offset
)

// A parsedZone is the zone of a date as parsed.
type parsedZone struct {
	known     bool // by offset or by name
	offset    bool // minutes come from a numeric offset
	minutes   int
	named     bool
	nameFirst bool // the name precedes the offset
	name      zone
	since     int // first year in which the name's rule is valid
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

// offset returns the minutes east of UTC of a sign, hours and minutes, and whether any place on Earth has
// that offset.
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

// setZone sets the zone from a name of n tokens. A second name must have the same meaning.
func (r *parser) setZone(z zone, n int) int {
	if r.zone.named && r.zone.name != z {
		return 0
	}
	r.zone.known, r.zone.named, r.zone.name = true, true, z
	r.zone.nameFirst = !r.zone.offset
	return n
}

// toUTC returns the moment at which local time in the parsed zone is t, or false if it is ambiguous. A name
// and an offset must agree, except that an offset may follow UTC, and may precede or follow a name that is
// ambiguous without it.
func (z parsedZone) toUTC(t time.Time) (time.Time, bool) {
	minutes, ok := z.minutes, true
	if z.named {
		minutes, ok = z.name.at(t)
		ok = ok && t.Year() >= z.since
	}
	if z.named && z.offset {
		ok = !ok || minutes == z.minutes || z.nameFirst && z.name == utc || !z.nameFirst && z.name.rule == ruleLetter
		minutes = z.minutes
	}
	return t.Add(-time.Duration(minutes) * time.Minute), ok
}

// at returns the zone's minutes east of UTC at local time t. ok is false if they are ambiguous, as in the
// hour that summer time skips or repeats.
func (z zone) at(t time.Time) (minutes int, ok bool) {
	switch z.rule {
	case ruleUS, ruleEU, ruleMoscow:
		summer, ok := isSummer(t, z)
		if summer {
			return z.minutes + 60, ok
		}
		return z.minutes, ok
	case ruleSummerOnly:
		summer, ok := isSummer(t, zone{z.minutes - 60, ruleEU})
		return z.minutes, summer && ok
	case ruleAmbiguous:
		return 0, false
	}
	return z.minutes, true
}

package date

import (
	"unicode"
	"unicode/utf8"
)

// readWord reads a word by its meaning in its place.
func (r *reading) readWord(i int) int {
	t := r.tokens.at(i)
	if t.text == "T" || t.text == "t" {
		if n := r.readT(i); n > 0 {
			return n
		}
	}
	if n := r.readArea(i); n > 0 {
		return n
	}
	if half, n := r.halfAt(i); half != anyHalf && r.besideClock(i, n) {
		if r.half != anyHalf {
			return 0
		}
		r.half = half
		return n
	}
	m := t.means
	month := m.monthIn(r.lang)
	switch {
	case m.zone != nil && r.standsForZone(t.text):
		if r.lang == "zh" && t.text == "CST" {
			return r.setZone(zone{rule: ambiguous}, 1)
		}
		return r.setZone(*m.zone, 1)
	case month != 0:
		return r.setMonth(i, month, max(m.weekday, 0))
	case m.weekday != 0 && !(r.hasClock && len(t.text) == 2): // 12:06 SA is Vietnamese for 00:06
		return r.setWeekday(m.weekday)
	case r.isLetter(t.text):
		return r.setZone(zone{rule: letter}, 1)
	case m.filler && r.tokens.markAt(i+1) == ':':
		return 2
	case m.filler:
		return 1
	}
	return r.readUnknown(i)
}

// setMonth takes the name at i for that of a month. A second one must be the
// same, or the first was the day's weekday, as in mar. 3 févr. 2026, but not in
// Mar/Apr 2026 or Mar 3 - Apr 2026.
func (r *reading) setMonth(i, month, alsoDay int) int {
	if r.month != 0 && r.month != month {
		before := r.tokens.at(i - 1)
		if r.alsoDay == 0 || r.monthAt > 0 || before.kind != digits && before.mark != '.' {
			return 0
		}
		r.weekday, r.mustAgree = r.alsoDay, true
	}
	r.month, r.monthAt, r.alsoDay = month, r.nloose, alsoDay
	return 1
}

// setWeekday takes a weekday's name. If there are two we know none.
func (r *reading) setWeekday(day int) int {
	if day < 0 || r.weekday != 0 && r.weekday != day {
		day = 0
	}
	r.weekday = day
	return 1
}

// halfAt returns the half of the day that the words at i name, and how many
// tokens they are: pm, p.m. or p. m.
func (r *reading) halfAt(i int) (half, int) {
	t := &r.tokens
	if t.markAt(i+1) == '.' && len(t.at(i).text) == 1 && t.at(i+2).text == "m" {
		switch t.at(i).text {
		case "a":
			return beforeNoon, 3
		case "p":
			return afterNoon, 3
		}
	}
	return t.meansAt(i).half, 1
}

// besideClock reports whether the n tokens at i follow a clock or stand before
// one. Elsewhere "am" is a German preposition.
func (r *reading) besideClock(i, n int) bool {
	t := &r.tokens
	after := r.hasClock && t.at(i-1).kind == digits
	return after || t.digitsAt(i+n) > 0 && (t.markAt(i+n+1) == ':' || units[t.at(i+n+1).text] == ofHour)
}

// standsForZone reports whether a word that is a zone's name is one here: after
// a clock or a whole day, in capitals if it is short, for "et" and "pt" are
// words too.
func (r *reading) standsForZone(name string) bool {
	return (r.hasClock || r.hasWholeDay()) && (len(name) != 2 || isCapital(name) || name == "ut")
}

// isLetter reports whether text is a military letter for a zone. It must follow
// a clock, and with seconds if it could mean noon, after noon or midnight. J is
// none.
func (r *reading) isLetter(text string) bool {
	if len(text) != 1 || !isCapital(text) || !r.hasClock || text == "J" {
		return false
	}
	return r.hasSeconds || text != "N" && text != "P" && text != "M"
}

// readArea reads a place that names its zone: Europe/Brussels.
func (r *reading) readArea(i int) int {
	t := &r.tokens
	if t.markAt(i+1) != '/' || !r.hasClock || t.at(i+2).kind != word || !t.glued(i+1) || !t.glued(i+2) {
		return 0
	}
	z, ok := areas[t.at(i).text+"/"+t.at(i+2).text]
	if next := t.markAt(i + 3); !ok || (next == '+' || next == '-') && t.glued(i+3) { // Etc/GMT+3 is west
		return 0
	}
	r.zone.since = areasSince
	return r.setZone(z, 3)
}

// readUnknown passes over a word that is a label, before a colon, or the first
// of all and before a comma, where weekdays stand, or the name that a publisher
// gives to an offset before it.
func (r *reading) readUnknown(i int) int {
	t := &r.tokens
	switch {
	case t.markAt(i+1) == ':' && !r.hasClock && r.nloose == 0:
		return 2
	case i == 0 && t.at(1).text == ",":
		return 1
	case r.zone.offset && isCapital(t.at(i).text) && len(t.at(i).text) <= 5:
		return 1
	}
	return 0
}

// isCapital reports whether all of s are capital letters.
func isCapital(s string) bool {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if !unicode.IsUpper(r) {
			return false
		}
		s = s[n:]
	}
	return true
}

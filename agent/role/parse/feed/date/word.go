package date

import (
	"unicode"
	"unicode/utf8"
)

// readWord parses a word by its meaning and position.
func (r *parser) readWord(i int) int {
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
			return r.setZone(zone{rule: ruleAmbiguous}, 1)
		}
		if z, ok := localZone(t.text, r.lang, r.country); ok {
			r.zone.local = true
			return r.setZone(z, 1)
		}
		return r.setZone(*m.zone, 1)
	case month != 0:
		return r.setMonth(i, month, max(m.weekday, 0))
	case m.weekday != 0 && !(r.hasClock && len(t.text) == 2): // 12:06 SA is Vietnamese for 00:06
		return r.setWeekday(m.weekday)
	case r.isLetter(t.text):
		return r.setZone(zone{rule: ruleLetter}, 1)
	case m.filler && r.tokens.charAt(i+1) == ':':
		return 2
	case m.filler:
		return 1
	}
	return r.readUnknown(i)
}

// setMonth sets the month from the name at i. A second name must be the same month, or the first was the
// weekday, as in mar. 3 févr. 2026, but not in Mar/Apr 2026 or Mar 3 - Apr 2026.
func (r *parser) setMonth(i, month, alsoDay int) int {
	if r.month != 0 && r.month != month {
		before := r.tokens.at(i - 1)
		if r.monthAsWeekday == 0 || r.monthAt > 0 || before.kind != digits && before.char != '.' {
			return 0
		}
		r.weekday, r.weekdayRequired = r.monthAsWeekday, true
	}
	r.month, r.monthAt, r.monthAsWeekday = month, r.nunplaced, alsoDay
	return 1
}

// setWeekday sets the weekday. Two different weekdays cancel each other.
func (r *parser) setWeekday(day int) int {
	if day < 0 || r.weekday != 0 && r.weekday != day {
		day = 0
	}
	r.weekday = day
	return 1
}

// halfAt returns the half of the day named by the words at i, and their number of tokens: pm, p.m. or p. m.
func (r *parser) halfAt(i int) (dayHalf, int) {
	t := &r.tokens
	if t.charAt(i+1) == '.' && len(t.at(i).text) == 1 && t.at(i+2).text == "m" {
		switch t.at(i).text {
		case "a":
			return beforeNoon, 3
		case "p":
			return afterNoon, 3
		}
	}
	return t.meansAt(i).half, 1
}

// besideClock reports whether the n tokens at i follow or precede a clock. Elsewhere "am" is a German
// preposition.
func (r *parser) besideClock(i, n int) bool {
	t := &r.tokens
	after := r.hasClock && t.at(i-1).kind == digits
	return after || t.digitsAt(i+n) > 0 && (t.charAt(i+n+1) == ':' || units[t.at(i+n+1).text] == unitHour)
}

// standsForZone reports whether a zone's name at this position means the zone: after a clock or a complete
// day, and for two letters in capitals, because "et" and "pt" are also words.
func (r *parser) standsForZone(name string) bool {
	return (r.hasClock || r.hasWholeDay()) && (len(name) != 2 || isCapital(name) || name == "ut")
}

// isLetter reports whether text is a military letter for a zone. It must follow a clock, which must have
// seconds if the letter could mean noon, afternoon or midnight. J is not assigned.
func (r *parser) isLetter(text string) bool {
	if len(text) != 1 || !isCapital(text) || !r.hasClock || text == "J" {
		return false
	}
	return r.hasSeconds || text != "N" && text != "P" && text != "M"
}

// readArea parses a place that names its zone: Europe/Brussels.
func (r *parser) readArea(i int) int {
	t := &r.tokens
	if t.charAt(i+1) != '/' || !r.hasClock || t.at(i+2).kind != word || !t.adjacent(i+1) || !t.adjacent(i+2) {
		return 0
	}
	z, ok := areas[t.at(i).text+"/"+t.at(i+2).text]
	if next := t.charAt(i + 3); !ok || (next == '+' || next == '-') && t.adjacent(i+3) { // Etc/GMT+3 is west
		return 0
	}
	r.zone.since = areasSince
	return r.setZone(z, 3)
}

// readUnknown skips a word without a meaning if it is a label before a colon, the first word before a comma,
// where weekdays stand, or a publisher's name for the offset before it.
func (r *parser) readUnknown(i int) int {
	t := &r.tokens
	switch {
	case t.charAt(i+1) == ':' && !r.hasClock && r.nunplaced == 0:
		return 2
	case i == 0 && t.at(1).text == ",":
		return 1
	case r.zone.offset && isCapital(t.at(i).text) && len(t.at(i).text) <= 5:
		return 1
	}
	return 0
}

// isCapital reports whether s consists of capital letters.
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

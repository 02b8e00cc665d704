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
	ruleIsrael          // an hour more in summer, by the Israeli calendar
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
	local     bool // language or country decided the name's meaning
	name      zone
	since     int // first year in which the name's rule is valid
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
		ok = !ok || z.local || minutes == z.minutes || z.nameFirst && z.name == utc || !z.nameFirst && z.name.rule == ruleLetter
		minutes = z.minutes
	}
	return t.Add(-time.Duration(minutes) * time.Minute), ok
}

// at returns the zone's minutes east of UTC at local time t. ok is false if they are ambiguous, as in the
// hour that summer time skips or repeats.
func (z zone) at(t time.Time) (minutes int, ok bool) {
	switch z.rule {
	case ruleUS, ruleEU, ruleMoscow, ruleIsrael:
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

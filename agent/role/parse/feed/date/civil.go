package date

import "time"

// A civil is a calendar day, possibly invalid.
type civil struct{ year, month, day int }

// valid reports whether the day exists.
func (c civil) valid() bool {
	return 1 <= c.year && c.year <= 9999 && 1 <= c.month && c.month <= 12 &&
		1 <= c.day && c.day <= daysIn(c.year, c.month)
}

// weekday returns the day's weekday. The day must be valid.
func (c civil) weekday() time.Weekday {
	return time.Date(c.year, time.Month(c.month), c.day, 0, 0, 0, 0, time.UTC).Weekday()
}

// daysIn returns the number of days of a month.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// ofOrdinal returns the nth day of a year, counted from 1.
func ofOrdinal(year, n int) (civil, bool) {
	if n < 1 || n > 365 && (n > 366 || daysIn(year, 2) == 28) {
		return civil{}, false
	}
	return ofTime(time.Date(year, 1, n, 0, 0, 0, 0, time.UTC)), true
}

// ofWeek returns a day of an ISO 8601 week. Weeks begin on Monday, day 1; the first week contains January 4.
func ofWeek(year, week, day int) (civil, bool) {
	if week < 1 || day < 1 || day > 7 {
		return civil{}, false
	}
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := 4 - (int(fourth.Weekday())+6)%7
	t := time.Date(year, 1, monday+7*(week-1)+day-1, 0, 0, 0, 0, time.UTC)
	if y, w := t.ISOWeek(); y != year || w != week {
		return civil{}, false
	}
	return ofTime(t), true
}

func ofTime(t time.Time) civil {
	return civil{t.Year(), int(t.Month()), t.Day()}
}

// fullYear returns the year for a number of that many digits. Two digits mean 1950 to 2049, three count from
// 1900, as some programs write them.
//
// Source: RFC 2822, section 4.3.
func fullYear(value, digits int) (year int, ok bool) {
	switch {
	case digits == 2 && value < 50:
		return 2000 + value, true
	case digits == 2, digits == 3 && 100 <= value && value < 200:
		return 1900 + value, true
	}
	return value, digits == 4
}

// Range of years that any form may have. Other years need a form of RFC 822 or ISO 8601 with time and zone,
// see [parser.isPlausible].
const (
	minYear = 1970
	maxYear = 2100
)

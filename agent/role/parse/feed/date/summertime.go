package date

import "time"

// isSummer reports whether the local time t in z is summer time. ok is false if this is undefined: in the
// skipped hour, in the repeated hour, and before the years of the implemented rules.
func isSummer(t time.Time, z zone) (summer, ok bool) {
	begin, end, ok := summerOf(t.Year(), z)
	switch hour := time.Hour; {
	case !ok, !t.Before(begin) && t.Before(begin.Add(hour)), !t.Before(end.Add(-hour)) && t.Before(end):
		return false, false
	default:
		return t.After(begin) && t.Before(end), true
	}
}

// summerOf returns the local times in z at which summer time of a year begins, before clocks are put forward,
// and ends, before they are put back.
//
// Sources: directive 2000/84/EC and those before it; Energy Policy Act of 2005 and the amendment of 1986 to
// the Uniform Time Act; for Moscow and Israel, the IANA time zone database.
func summerOf(year int, z zone) (begin, end time.Time, ok bool) {
	switch {
	case z.rule == ruleEU && year >= 1996:
		local := time.Hour + time.Duration(z.minutes)*time.Minute // of 01:00 UTC
		return sunday(year, 3, 31).Add(local), sunday(year, 10, 31).Add(local + time.Hour), true
	case z.rule == ruleMoscow:
		return sunday(2011, 3, 31).Add(2 * time.Hour), sunday(2014, 10, 31).Add(2 * time.Hour), true
	case z.rule == ruleIsrael && year >= 2013: // from the Friday before the last Sunday of March
		return sunday(year, 3, 31).AddDate(0, 0, -2).Add(2 * time.Hour), sunday(year, 10, 31).Add(2 * time.Hour), true
	case z.rule == ruleUS && year >= 2007:
		return sunday(year, 3, 14).Add(2 * time.Hour), sunday(year, 11, 7).Add(2 * time.Hour), true
	case z.rule == ruleUS && year >= 1987:
		return sunday(year, 4, 7).Add(2 * time.Hour), sunday(year, 10, 31).Add(2 * time.Hour), true
	}
	return time.Time{}, time.Time{}, false
}

// sunday returns the midnight at the start of the last Sunday on or before a day.
func sunday(year int, month time.Month, day int) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	return t.AddDate(0, 0, -int(t.Weekday()))
}

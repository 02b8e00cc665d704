package schedule

import "time"

// Next returns the first time at or after t at which items that wait since t may be sent: at most 8 days later. A time in
// quiet hours moves to their end.
//
// A time of the day is the first moment at which the clocks of the zone show it or a later time: with clocks that are put
// forward over it, the moment at which this happens; with clocks that are put back over it, the first of the two.
func (s Schedule) Next(t time.Time) time.Time {
	if from, to, isQuiet := s.quiet.around(t); isQuiet {
		if due := s.first(from); !due.After(to) {
			return to.In(t.Location())
		}
	}
	due := s.first(t)
	if _, to, isQuiet := s.quiet.around(due); isQuiet {
		due = to
	}
	return due.In(t.Location())
}

// IsQuiet reports whether t is in quiet hours.
func (s Schedule) IsQuiet(t time.Time) bool {
	_, to, is := s.quiet.around(t)
	return is && to.After(t)
}

// first returns the first time at or after t that the schedule has, regardless of quiet hours.
func (s Schedule) first(t time.Time) time.Time {
	switch s.every {
	case atOnce:
		return t
	case hourly:
		if hour := t.Truncate(time.Hour); hour.Before(t) {
			return hour.Add(time.Hour)
		}
		return t
	}
	for day := -1; ; day++ { // in the zone a date may be skipped, so that its times are on the next one
		date := dateOf(t, s.zone, day)
		if s.every == weekly && date.Weekday() != s.day {
			continue
		}
		if due := s.at.on(date, s.zone); !due.Before(t) {
			return due
		}
	}
}

// around returns the quiet hours in which t is. Their end is one of them here: what waited for it is sent at it.
func (q quiet) around(t time.Time) (from, to time.Time, isQuiet bool) {
	if q.zone == nil {
		return from, to, false
	}
	for day := -2; day <= 2; day++ {
		ends := day
		if q.to <= q.from {
			ends++
		}
		start, end := q.from.on(dateOf(t, q.zone, day), q.zone), q.to.on(dateOf(t, q.zone, ends), q.zone)
		if !start.Before(end) { // clocks were put forward over them
			continue
		}
		if start.After(to) { // otherwise they continue those before, because a date was skipped
			if start.After(t) || !to.Before(t) {
				break
			}
			from = start
		}
		to = end
	}
	return from, to, !from.After(t) && !to.Before(t)
}

// dateOf returns the date of t in the zone, so many days later, as midnight UTC.
func dateOf(t time.Time, zone *time.Location, days int) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day+days, 0, 0, 0, 0, time.UTC)
}

// on returns the first moment at which the clocks of the zone show this time of the date, or a later one. [time.Date] does not
// define which moment it returns if there are two or none.
func (c clock) on(date time.Time, zone *time.Location) time.Time {
	shown := date.Add(time.Duration(c) * time.Minute)    // as if the zone was UTC
	period := shown.Add(-maxOffset - time.Hour).In(zone) // the clocks show less
	for {
		_, offset := period.Zone()
		_, end := period.ZoneBounds()
		at := shown.Add(-time.Duration(offset) * time.Second).In(zone)
		switch {
		case at.Before(period): // the clocks were put forward over it
			return period
		case end.IsZero() || at.Before(end):
			return at
		}
		period = end
	}
}

// maxOffset is more than any zone is ahead of UTC.
const maxOffset = 26 * time.Hour

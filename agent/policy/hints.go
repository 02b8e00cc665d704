package policy

import "time"

// maxAgeTrusted bounds Cache-Control and Expires: they are about caches, and are
// set for all of a site at once.
const maxAgeTrusted = 6 * time.Hour

// lengthen returns the wait with what the feed's document and its server say of
// when to read it, which can only make it longer, and never longer than a day.
// A hint is ignored if the feed's history contradicts it: if more than one item
// is expected before the time it names, or, for hours and days to skip, if the
// feed has published in them.
func lengthen(f *Feed, c *course, wait time.Duration, why string) (time.Duration, string) {
	for _, hint := range [...]struct {
		name string
		wait time.Duration
	}{
		{"max-age", min(f.MaxAge, maxAgeTrusted)},
		{"ttl", min(f.Hints.TTL, maxInterval)},
		{"update period", min(f.Hints.Period, maxInterval)},
	} {
		if hint.wait > wait && c.expected(hint.wait) <= 1 {
			wait, why = hint.wait, sentence(hint.name, ": the feed says that it brings nothing new for ", span(hint.wait))
		}
	}
	if f.Hints.SkipHours != 0 || f.Hints.SkipDays != 0 {
		return skip(f, c, wait, why)
	}
	return wait, why
}

// skip moves the end of a wait out of hours and days to skip, by a day at most.
func skip(f *Feed, c *course, wait time.Duration, why string) (time.Duration, string) {
	zone := int64(f.Model.zone) * 60
	for at := c.start + int64(wait/time.Second) - zone; wait < maxInterval; {
		hour, weekday := int(at/3600%24), int((at/86400+int64(time.Thursday))%weekdays)
		hourSkipped := f.Hints.SkipHours&(1<<hour) != 0 && !c.profile.hasHour((at+zone)/3600*3600)
		daySkipped := f.Hints.SkipDays&(1<<weekday) != 0 && !c.profile.hasDay(at+zone)
		if !hourSkipped && !daySkipped {
			break
		}
		next := at - at%3600 + 3600
		wait, at = wait+time.Duration(next-at)*time.Second, next
		why = "skip: the feed says that it brings nothing new in this hour or on this day"
	}
	return wait, why
}

// hasHour reports whether the feed has published in the hour from a local time on.
func (p *profile) hasHour(local int64) bool {
	q, _ := slot(local)
	for i := range 4 {
		if p.quarters[(q+i)%quarters] > 0 {
			return true
		}
	}
	return false
}

// hasDay reports whether the feed has published on the weekday of a local time.
func (p *profile) hasDay(local int64) bool {
	_, d := slot(local)
	return p.weekdays[d] > 0
}

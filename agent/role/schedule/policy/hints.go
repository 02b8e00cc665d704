package policy

import "time"

// maxAgeTrusted bounds Cache-Control and Expires: they control caches and are often set for a whole site.
const maxAgeTrusted = 6 * time.Hour

// applyHints lengthens a wait by the hints of the feed's document and its server, never shortens it, and
// never beyond a day. A hint is ignored if the feed's history contradicts it: if more than one item is
// expected before the time that it gives or, for hours and days to skip, if the feed has published in them.
func applyHints(f *Feed, c *arrivalForecast, wait time.Duration, reason string) (time.Duration, string) {
	for _, hint := range [...]struct {
		name string
		wait time.Duration
	}{
		{"max-age", min(f.MaxAge, maxAgeTrusted)},
		{"ttl", min(f.Hints.TTL, maxInterval)},
		{"update period", min(f.Hints.Period, maxInterval)},
	} {
		if hint.wait > wait && c.expected(hint.wait) <= 1 {
			wait, reason = hint.wait, join(hint.name, ": the feed states that it publishes nothing for ", durationText(hint.wait))
		}
	}
	if f.Hints.SkipHours != 0 || f.Hints.SkipDays != 0 {
		return applySkips(f, c, wait, reason)
	}
	return wait, reason
}

// applySkips moves the end of a wait out of the hours and days to skip, by a day at most.
func applySkips(f *Feed, c *arrivalForecast, wait time.Duration, why string) (time.Duration, string) {
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
		why = "skip: the feed states that it publishes nothing in this hour or on this day"
	}
	return wait, why
}

// hasHour reports whether the feed has published in the hour that begins at a local time.
func (p *profile) hasHour(local int64) bool {
	q, _ := binsOf(local)
	for i := range 4 {
		if p.quarters[(q+i)%quarters] > 0 {
			return true
		}
	}
	return false
}

// hasDay reports whether the feed has published on the weekday of a local time.
func (p *profile) hasDay(local int64) bool {
	_, d := binsOf(local)
	return p.weekdays[d] > 0
}

package policy

import "time"

// maxOffset is the largest offset of a zone from UTC, in minutes.
const maxOffset = 14 * 60

// SetZone sets the feed's time zone, in minutes east of UTC. Invalid offsets are ignored.
func (m *Model) SetZone(minutes int) {
	if minutes < -maxOffset || minutes > maxOffset {
		return
	}
	if !m.hasZone {
		// The profile was recorded in UTC so far. Later changes are daylight saving time, with which a feed's
		// habits move.
		m.profile.shift(minutes)
	}
	m.zone, m.hasZone = int16(minutes), true
}

// learnZone sets the zone from the newest date with an offset. Dates in UTC are ignored: many programs
// convert to it.
func (m *Model) learnZone(dates []time.Time) {
	var newest time.Time
	for _, d := range dates {
		if _, offset := d.Zone(); offset != 0 && d.After(newest) {
			newest = d
		}
	}
	if !newest.IsZero() {
		_, offset := newest.Zone()
		m.SetZone(offset / 60)
	}
}

// local returns t in the feed's zone, as a UTC time value: it needs no allocated location.
func (m *Model) local(t time.Time) time.Time { return t.UTC().Add(time.Duration(m.zone) * time.Minute) }

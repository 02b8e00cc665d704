package policy

import "time"

// farthest is the largest offset from UTC that a zone has.
const farthest = 14 * 60

// SetZone tells how many minutes east of UTC the feed's dates are.
func (m *Model) SetZone(minutes int) {
	if minutes < -farthest || minutes > farthest {
		return
	}
	if !m.zoned {
		// What was learned so far was taken for UTC. Later changes are summer
		// and winter, with which a feed's habits move.
		m.profile.shift(minutes)
	}
	m.zone, m.zoned = int16(minutes), true
}

// Zone returns how many minutes east of UTC the feed's dates are, if that is
// known.
func (m *Model) Zone() (minutes int, known bool) { return int(m.zone), m.zoned }

// learnZone takes the zone from the newest date that names one. Dates in UTC
// name none: many programs convert to it.
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

// local returns t as the feed's clock shows it, in a location of that offset
// that costs nothing to make.
func (m *Model) local(t time.Time) time.Time { return t.UTC().Add(time.Duration(m.zone) * time.Minute) }

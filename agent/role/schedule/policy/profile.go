package policy

import "time"

const (
	daySeconds  = 24 * 3600
	quarters    = 96 // of an hour, in a day
	weekdays    = 7
	itemWeight  = 32     // added to a bin by an item of today
	weeklyDecay = 0.8409 // remainder of a bin after a week: half after four
	maxBin      = 1<<16 - 1 - itemWeight
)

// A profile counts a feed's items by quarter of an hour of the day and by weekday, in the feed's time zone.
// The rate at a time is the product of both: items then fill 103 bins and not 672, and the habits of a feed
// with an item a day are distinguishable from chance.
type profile struct {
	day      int32  // to which the bins are aged, in days since 1970
	total    uint32 // sum of quarters
	quarters [quarters]uint16
	weekdays [weekdays]uint16
}

// add counts an item with a local time, seen at the local time now.
func (p *profile) add(local, now time.Time) {
	p.age(int32(now.Unix() / daySeconds))
	days := int(p.day) - int(local.Unix()/daySeconds)
	q, d := binsOf(local.Unix())
	if p.quarters[q] > maxBin || p.weekdays[d] > maxBin {
		scale(p.quarters[:], 0.5)
		scale(p.weekdays[:], 0.5)
		p.sum()
	}
	worth := uint16(itemWeight * decayFactor(days/weekdays))
	p.quarters[q] += worth
	p.total += uint32(worth)
	p.weekdays[d] += uint16(itemWeight * decayFactor((days+weekdays-1)/weekdays))
}

// binsOf returns the bins of a local time, in seconds since 1970.
func binsOf(local int64) (quarter, weekday int) {
	return int(local / 900 % quarters), weekdayOf(int32(local / daySeconds))
}

// age ages the bins to a day, in weekly steps. A weekday's bin ages when that weekday is over: if all were
// aged on the same day, weekdays before it would be underrated against those after it.
func (p *profile) age(today int32) {
	from := p.day
	if today <= from {
		return
	}
	p.day = today
	if p.total == 0 {
		return
	}
	scale(p.quarters[:], decayFactor(int(today/weekdays-from/weekdays)))
	for d := range p.weekdays {
		// Count this weekday's occurrences from day from to yesterday.
		first := (d - weekdayOf(from) + weekdays) % weekdays
		over := (int(today-from) - first + weekdays - 1) / weekdays
		scale(p.weekdays[d:d+1], decayFactor(over))
	}
	p.sum()
}

// weekdayOf returns the weekday of a day number since 1970-01-01, a Thursday.
func weekdayOf(day int32) int { return (int(day) + int(time.Thursday)) % weekdays }

// decayFactor returns the weight of an item after a number of weeks.
func decayFactor(weeks int) float64 {
	left := 1.0
	for range min(max(weeks, 0), 60) {
		left *= weeklyDecay
	}
	return left
}

// scale multiplies bins, rounding down.
func scale(bins []uint16, by float64) {
	for i, v := range bins {
		bins[i] = uint16(float64(v) * by)
	}
}

// sum recomputes the total of the quarters.
func (p *profile) sum() {
	p.total = 0
	for _, v := range p.quarters {
		p.total += uint32(v)
	}
}

// shift moves the quarters by a number of minutes.
func (p *profile) shift(minutes int) {
	old := p.quarters
	by := minutes/15 + quarters
	for i, v := range old {
		p.quarters[(i+by)%quarters] = v
	}
}

// weekdayTotal returns the sum of the weekdays.
func (p *profile) weekdayTotal() (total uint32) {
	for _, v := range p.weekdays {
		total += uint32(v)
	}
	return total
}

package policy

import "time"

const (
	daySeconds = 24 * 3600
	quarters   = 96 // of an hour, in a day
	weekdays   = 7
	oneItem    = 32     // what an item of today adds to a bin
	profileAge = 0.8409 // what of a bin is left after a week: half of it after four
	fullBin    = 1<<16 - 1 - oneItem
)

// A profile counts at what quarters of an hour and on what weekdays, by the
// feed's own clock, a feed publishes. Hour of the week and quarter of the hour
// are kept as the product of the two: items then fill 103 bins and not 672, and
// a feed with an item a day has habits that can be told from chance.
type profile struct {
	day      int32  // since 1970, to which the bins are aged
	total    uint32 // of the quarters
	quarters [quarters]uint16
	weekdays [weekdays]uint16
}

// add counts an item of a local time, as one looks at it at another.
func (p *profile) add(local, now time.Time) {
	p.age(int32(now.Unix() / daySeconds))
	days := int(p.day) - int(local.Unix()/daySeconds)
	q, d := slot(local.Unix())
	if p.quarters[q] > fullBin || p.weekdays[d] > fullBin {
		scale(p.quarters[:], 0.5)
		scale(p.weekdays[:], 0.5)
		p.sum()
	}
	worth := uint16(oneItem * aged(days/weekdays))
	p.quarters[q] += worth
	p.total += uint32(worth)
	p.weekdays[d] += uint16(oneItem * aged((days+weekdays-1)/weekdays))
}

// slot returns the bins of a local time, given in seconds since 1970.
func slot(local int64) (quarter, weekday int) {
	return int(local / 900 % quarters), weekdayOf(int32(local / daySeconds))
}

// age ages the bins to a day, weekly. A weekday ages when it is over: were they
// all aged on the same day, those before it would seem to have fewer items than
// those after it.
func (p *profile) age(today int32) {
	from := p.day
	if today <= from {
		return
	}
	p.day = today
	if p.total == 0 {
		return
	}
	scale(p.quarters[:], aged(int(today/weekdays-from/weekdays)))
	for d := range p.weekdays {
		// Of the days from and later, before today, how many were such.
		first := (d - weekdayOf(from) + weekdays) % weekdays
		over := (int(today-from) - first + weekdays - 1) / weekdays
		scale(p.weekdays[d:d+1], aged(over))
	}
	p.sum()
}

// weekdayOf returns the weekday of a day since 1970, which began on a Thursday.
func weekdayOf(day int32) int { return (int(day) + int(time.Thursday)) % weekdays }

// aged returns what is left of an item after so many weeks.
func aged(weeks int) float64 {
	left := 1.0
	for range min(max(weeks, 0), 60) {
		left *= profileAge
	}
	return left
}

// scale multiplies bins, rounding down.
func scale(bins []uint16, by float64) {
	for i, v := range bins {
		bins[i] = uint16(float64(v) * by)
	}
}

// sum adds up the quarters.
func (p *profile) sum() {
	p.total = 0
	for _, v := range p.quarters {
		p.total += uint32(v)
	}
}

// shift moves the quarters by so many minutes.
func (p *profile) shift(minutes int) {
	old := p.quarters
	by := minutes/15 + quarters
	for i, v := range old {
		p.quarters[(i+by)%quarters] = v
	}
}

// onWeekdays adds up the weekdays.
func (p *profile) onWeekdays() (total uint32) {
	for _, v := range p.weekdays {
		total += uint32(v)
	}
	return total
}

package policy

// priorItems is the weight of the average habits, in items: a feed with as many items of its own is halfway
// between its own profile and the average.
const priorItems = 30

// habits are rates relative to the mean rate, for each quarter of an hour of the day and for each weekday.
// Their means are 1.
type habits struct {
	quarters [quarters]float64
	weekdays [weekdays]float64
}

// flatHabits returns habits without daily or weekly variation.
func flatHabits() habits {
	var h habits
	for i := range h.quarters {
		h.quarters[i] = 1
	}
	for i := range h.weekdays {
		h.weekdays[i] = 1
	}
	return h
}

// add adds the profile of a feed, weighted by its rate in items a day.
func (h *habits) add(p *profile, rate float64) {
	if p.total == 0 {
		return
	}
	for i, v := range p.quarters {
		h.quarters[i] += rate * float64(v) / float64(p.total)
	}
	total := p.weekdayTotal()
	for i, v := range p.weekdays {
		h.weekdays[i] += rate * float64(v) / float64(max(total, 1))
	}
}

// normalize turns sums into habits with a mean of 1.
func (h *habits) normalize() {
	normalizeMean(h.quarters[:])
	normalizeMean(h.weekdays[:])
}

// normalizeMean scales v to a mean of 1. A hundredth is spread evenly, so that no time has a rate of 0.
func normalizeMean(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	if sum == 0 {
		sum = 1
	}
	for i, x := range v {
		v[i] = 0.99*x/sum*float64(len(v)) + 0.01
	}
}

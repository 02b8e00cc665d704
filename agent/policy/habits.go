package policy

// shrunk is how many items of the mean feed's habits stand against a feed's
// own: one with as many items is taken to be halfway between.
const shrunk = 30

// habits are how many times the mean rate a quarter of the day and a weekday
// have. Their means are 1.
type habits struct {
	quarters [quarters]float64
	weekdays [weekdays]float64
}

// flat returns the habits of whom nothing is known.
func flat() habits {
	var h habits
	for i := range h.quarters {
		h.quarters[i] = 1
	}
	for i := range h.weekdays {
		h.weekdays[i] = 1
	}
	return h
}

// add adds to sums of habits those of a feed with so many items a day.
func (h *habits) add(p *profile, rate float64) {
	if p.total == 0 {
		return
	}
	for i, v := range p.quarters {
		h.quarters[i] += rate * float64(v) / float64(p.total)
	}
	total := p.onWeekdays()
	for i, v := range p.weekdays {
		h.weekdays[i] += rate * float64(v) / float64(max(total, 1))
	}
}

// mean turns sums into habits, with some weight for those of whom nothing is
// known.
func (h *habits) mean() {
	level(h.quarters[:])
	level(h.weekdays[:])
}

// level scales v to a mean of 1. A hundredth of it is spread evenly: no time is
// taken to be without items.
func level(v []float64) {
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

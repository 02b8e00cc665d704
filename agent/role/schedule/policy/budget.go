package policy

import (
	"math"
	"time"
)

const (
	averagingTime  = 20 * time.Minute // over which polls are compared with the plan
	correctionTime = 2 * time.Hour    // time constant of the correction of a lasting error
	priceExponent  = 2                // polls are proportional to the inverse square root of the price
	maxGap         = 10 * time.Minute // after which the polls in between are treated as lost
	maxError       = 0.25             // bound of a measured error, as a logarithm
	maxLearned     = 1.0              // bound of an hour's learned correction, as a logarithm
	maxCorrection  = 4.0              // bound of the price correction, either way, as a logarithm
	learningRate   = 1.0              // part of an hour's error that is expected again the next day
)

// A budgetController adjusts the price so that the polls keep to the budget. Recalibrate computes the price
// at which all feeds together would use up the budget, if the models are right. Because they are not exact,
// record compares the polls made with the plan and slowly corrects the price: a new price affects a feed only
// at its next poll.
//
// The budget is the mean of a day. At one price polls concentrate where items do, so each hour of the day has
// its own share of the budget. Recalibrate predicts the shares from the average habits of all feeds; the
// controller learns from each hour's polls the effect of the feeds' own habits.
type budgetController struct {
	budget         float64     // requests a second
	basePrice      float64     // found by Recalibrate: seconds of delay, summed over a feed's items
	logCorrection  float64     // correction of the price, as a logarithm
	forecastShares [24]float64 // of the hours, UTC, predicted by Recalibrate; their mean is 1
	learnedShares  [24]float64 // corrections of the shares, as logarithms
	plan           [24]float64 // both combined, requests a second

	updated   time.Time // time of the last call of record
	recent    spending  // until updated, exponentially weighted
	hour      spending  // since the hour began
	wholeHour bool      // whether hour covers the hour from its beginning
}

// defaultPrice is the price until the first Recalibrate: it polls a feed with ten items a day every half
// hour.
const defaultPrice = 180

func newBudgetController() budgetController {
	p := budgetController{basePrice: defaultPrice}
	for i := range p.forecastShares {
		p.forecastShares[i] = 1
	}
	return p
}

// currentPrice returns the long-term price, raised or lowered by the recent error.
func (p *budgetController) currentPrice() float64 {
	if p.recent.planned < 1 {
		return p.basePrice * math.Exp(p.logCorrection)
	}
	return p.basePrice * math.Exp(p.logCorrection+priceExponent*p.recent.excess())
}

// updatePlan computes the planned polls of each hour of the day.
func (p *budgetController) updatePlan() {
	for hour, share := range p.forecastShares {
		p.plan[hour] = share * math.Exp(p.learnedShares[hour])
	}
	normalizeMean(p.plan[:])
	for hour := range p.plan {
		p.plan[hour] *= p.budget
	}
}

// record corrects the price by the polls made since the last call.
func (p *budgetController) record(polls int, now time.Time) {
	since := now.Sub(p.updated)
	switch {
	case !p.updated.IsZero() && since <= 0:
		return
	case p.updated.IsZero() || since > maxGap:
		// The polls of a longer gap were not recorded.
		p.updated, p.recent, p.hour, p.wholeHour = now, spending{}, spending{}, false
		return
	}
	planned := p.plan[now.UTC().Hour()] * since.Seconds()
	if now.UTC().Hour() != p.updated.UTC().Hour() {
		p.endHour(p.updated.UTC().Hour())
	}
	p.updated = now
	p.hour.add(1, planned, polls)
	p.recent.add(math.Exp(-since.Seconds()/averagingTime.Seconds()), planned, polls)
	if p.recent.planned >= 1 {
		correct := priceExponent * p.recent.excess() * since.Seconds() / correctionTime.Seconds()
		p.logCorrection = min(max(p.logCorrection+correct, -maxCorrection), maxCorrection)
	}
}

// endHour updates the learned share of an hour that is over, and starts the next.
func (p *budgetController) endHour(hour int) {
	if p.wholeHour && p.hour.planned >= 1 {
		p.learnedShares[hour] += learningRate * p.hour.excess()
		p.learnedShares[hour] = min(max(p.learnedShares[hour], -maxLearned), maxLearned)
		p.updatePlan()
	}
	p.hour, p.wholeHour = spending{}, true
}

// spending counts planned and actual polls.
type spending struct{ planned, made float64 }

// add adds polls; kept is the weight of the earlier ones.
func (s *spending) add(kept, planned float64, made int) {
	s.planned, s.made = s.planned*kept+planned, s.made*kept+float64(made)
}

// excess returns the logarithm of actual over planned polls, bounded by maxError.
func (s *spending) excess() float64 {
	return min(max(math.Log(max(s.made, 0.1)/s.planned), -maxError), maxError)
}

package policy

import (
	"math"
	"time"
)

// An arrivalForecast predicts when a feed's items arrive from a start time on.
type arrivalForecast struct {
	start   int64 // in the feed's time zone, Unix seconds
	profile *profile
	habits  *habits

	perSecond            float64 // mean rate over a week
	byQuarter, byWeekday blend

	items float64 // expected until the end that wait computed
}

// A blend holds the weights of a feed's own profile and of the average habits of all feeds.
type blend struct{ own, all float64 }

// blendWeights returns the weights for a profile with this number of bins and total count: a feed's own
// profile weighs as many items as it contains, the average habits weigh priorItems items.
func blendWeights(bins int, total uint32) blend {
	sum := float64(total) + priorItems*itemWeight
	return blend{own: float64(bins) / sum, all: priorItems * itemWeight / sum}
}

// forecast returns the forecast for a feed with this rate, in items a day.
func (p *price) forecast(f *Feed, rate float64, from time.Time) arrivalForecast {
	profile := &f.Model.profile
	return arrivalForecast{
		start: f.Model.local(from).Unix(), profile: profile, habits: &p.habits, perSecond: rate / day.Seconds(),
		byQuarter: blendWeights(quarters, profile.total), byWeekday: blendWeights(weekdays, profile.weekdayTotal()),
	}
}

// eachStep calls next for each interval of constant rate until end, with its length in seconds and its rate
// in items a second. It stops when next returns false.
func (c *arrivalForecast) eachStep(end time.Duration, next func(seconds, rate float64) bool) {
	last := c.start + int64(end/time.Second)
	quarter, weekday := binsOf(c.start)
	onDay := c.dayRate(weekday)
	for at := c.start; at < last; quarter++ {
		if quarter == quarters {
			quarter, weekday = 0, (weekday+1)%weekdays
			onDay = c.dayRate(weekday)
		}
		until := min(at-at%900+900, last)
		here := c.byQuarter.own*float64(c.profile.quarters[quarter]) + c.byQuarter.all*c.habits.quarters[quarter]
		if !next(float64(until-at), onDay*here) {
			return
		}
		at = until
	}
}

// dayRate returns the mean rate on a weekday, in items a second.
func (c *arrivalForecast) dayRate(d int) float64 {
	return c.perSecond * (c.byWeekday.own*float64(c.profile.weekdays[d]) + c.byWeekday.all*c.habits.weekdays[d])
}

// wait returns the time until the accumulated delay reaches price, in seconds, or the expected items reach
// maxItems (0: no limit), and the name of the limit that was reached; maxWait if neither is reached before.
func (c *arrivalForecast) wait(price, maxItems float64, maxWait time.Duration) (time.Duration, string) {
	if maxItems <= 0 {
		maxItems = math.Inf(1)
	}
	var waited, delay, items float64
	bound := "price"
	c.eachStep(maxWait, func(seconds, rate float64) bool {
		end := seconds
		if delay+items*seconds+rate*seconds*seconds/2 >= price {
			end = (2 * (price - delay)) / (items + math.Sqrt(items*items+2*rate*(price-delay)))
		}
		if items+rate*end > maxItems {
			end, bound = (maxItems-items)/rate, "window"
		}
		waited += end
		delay += items*end + rate*end*end/2
		items += rate * end
		return end == seconds
	})
	c.items = items
	return time.Duration(waited * float64(time.Second)), bound
}

// expected returns the number of items expected within a duration.
func (c *arrivalForecast) expected(within time.Duration) float64 {
	items := 0.0
	c.eachStep(within, func(seconds, rate float64) bool {
		items += rate * seconds
		return true
	})
	return items
}

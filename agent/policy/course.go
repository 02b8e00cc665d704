package policy

import (
	"math"
	"time"
)

// A course is how a feed's items are expected to come from a time on.
type course struct {
	start   int64 // by the feed's clock, Unix seconds
	profile *profile
	habits  *habits

	perSecond            float64 // items, in the mean of a week
	byQuarter, byWeekday blend

	items float64 // expected until the end that wait found
}

// A blend is the weights of what is in a bin of a profile and of all feeds'
// habit of that time.
type blend struct{ own, all float64 }

// shrink returns the blend for so many bins that hold so much: a feed's own
// habits count as many items as it has, against shrunk of all feeds'.
func shrink(bins int, total uint32) blend {
	sum := float64(total) + shrunk*oneItem
	return blend{own: float64(bins) / sum, all: shrunk * oneItem / sum}
}

// course returns what is expected of a feed with so many items a day.
func (p *price) course(f *Feed, rate float64, from time.Time) course {
	profile := &f.Model.profile
	return course{
		start: f.Model.local(from).Unix(), profile: profile, habits: &p.habits, perSecond: rate / day.Seconds(),
		byQuarter: shrink(quarters, profile.total), byWeekday: shrink(weekdays, profile.onWeekdays()),
	}
}

// steps calls next with the stretches of time until end in which the rate is
// constant: how long each is, in seconds, and the items a second. It ends when
// next returns false.
func (c *course) steps(end time.Duration, next func(seconds, rate float64) bool) {
	last := c.start + int64(end/time.Second)
	quarter, weekday := slot(c.start)
	onDay := c.onDay(weekday)
	for at := c.start; at < last; quarter++ {
		if quarter == quarters {
			quarter, weekday = 0, (weekday+1)%weekdays
			onDay = c.onDay(weekday)
		}
		until := min(at-at%900+900, last)
		here := c.byQuarter.own*float64(c.profile.quarters[quarter]) + c.byQuarter.all*c.habits.quarters[quarter]
		if !next(float64(until-at), onDay*here) {
			return
		}
		at = until
	}
}

// onDay returns the mean items a second on a weekday.
func (c *course) onDay(d int) float64 {
	return c.perSecond * (c.byWeekday.own*float64(c.profile.weekdays[d]) + c.byWeekday.all*c.habits.weekdays[d])
}

// wait returns after how long the accumulated delay reaches nu, in seconds, or
// the expected items reach fill (0: never), and which of the two it is; after
// longest if neither has until then.
func (c *course) wait(nu, fill float64, longest time.Duration) (time.Duration, string) {
	if fill <= 0 {
		fill = math.Inf(1)
	}
	var waited, delay, items float64
	bound := "price"
	c.steps(longest, func(seconds, rate float64) bool {
		end := seconds
		if delay+items*seconds+rate*seconds*seconds/2 >= nu {
			end = (2 * (nu - delay)) / (items + math.Sqrt(items*items+2*rate*(nu-delay)))
		}
		if items+rate*end > fill {
			end, bound = (fill-items)/rate, "window"
		}
		waited += end
		delay += items*end + rate*end*end/2
		items += rate * end
		return end == seconds
	})
	c.items = items
	return time.Duration(waited * float64(time.Second)), bound
}

// expected returns how many items are expected within a time.
func (c *course) expected(within time.Duration) float64 {
	items := 0.0
	c.steps(within, func(seconds, rate float64) bool {
		items += rate * seconds
		return true
	})
	return items
}

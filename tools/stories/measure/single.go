package measure

import "time"

// singlePass is source 3 as written: each message joins the nearest cluster if it is closer than the radius,
// or else opens one. A second pass groups these clusters into stories. It returns the cluster of each item
// after the first and after both passes. A cluster's vector is the sum of its items'; N and df are of the
// messages so far, and clusters expire when ours do. The second pass runs after all items and so uses later
// information than ours.
func singlePass(items []Record) (events, stories []int) {
	first := clusters{radius: eventRadius.of(items)}
	var c counter
	events = make([]int, len(items))
	var began []time.Time // of each cluster
	for i, item := range items {
		events[i] = first.add(c.vector(item), item.Seen)
		if events[i] == len(began) {
			began = append(began, item.Seen)
		}
	}
	second := clusters{radius: storyRadius.of(items)}
	into := make([]int, len(began))
	for i, at := range began {
		into[i] = second.add(first.sums[i], at)
	}
	stories = make([]int, len(items))
	for i, e := range events {
		stories[i] = into[e]
	}
	return events, stories
}

// clusters are the result of one pass.
type clusters struct {
	radius float64
	sums   []vector
	units  []vector    // the sums, of length 1; nil after expiry
	last   []time.Time // time of the last join
	live   []int
}

const window = 72 * time.Hour

// add returns the cluster that a vector joins, or opens.
func (c *clusters) add(v vector, seen time.Time) int {
	v = v.unit()
	best, closest := -1, c.radius
	live := c.live[:0]
	for _, j := range c.live {
		if seen.Sub(c.last[j]) > window {
			c.units[j] = nil
			continue
		}
		live = append(live, j)
		if cosine := v.dot(c.units[j]); cosine > closest {
			best, closest = j, cosine
		}
	}
	c.live = live
	if best < 0 {
		best = len(c.sums)
		c.sums, c.units, c.last = append(c.sums, nil), append(c.units, nil), append(c.last, seen)
		c.live = append(c.live, best)
	}
	c.sums[best] = c.sums[best].plus(v)
	c.units[best], c.last[best] = c.sums[best].unit(), seen
	return best
}

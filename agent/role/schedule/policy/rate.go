package policy

import "time"

// Rate returns a feed's rate in items a day, from the dates of the entries of one document; 0 if they are not
// usable. See [Model.Learn].
func Rate(dates []time.Time, now time.Time) float64 {
	var m Model
	m.Learn(dates, now)
	return m.Rate(now)
}

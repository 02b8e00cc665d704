package policy

import "time"

// Rate returns how many items a day a feed brings, by the dates of the entries
// in one document of it; 0 if they tell nothing. See [Model.Learn].
func Rate(dates []time.Time, now time.Time) float64 {
	var m Model
	m.Learn(dates, now)
	return m.Rate(now)
}

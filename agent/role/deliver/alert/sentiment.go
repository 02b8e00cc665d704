package alert

import "math"

// The bounds of [Compare].
const (
	MinScored  = 30  // values on each side
	minWelch   = 4.5 // Welch's t
	minSpread  = 0.05
	minSquares = minSpread * minSpread // variance of a side that is assumed at least: values that are all equal prove nothing
)

// Means are the mean sentiments of two periods.
type Means struct{ Before, After float64 }

// Compare returns the means of the sentiments of two periods of the same length, and whether the second is lower by at least fall and not by chance.
// Each value is that of a story, or of an item without one: items of a story repeat each other, and are no independent observations.
//
// The means differ not by chance if Welch's t, (mean before - mean after) / sqrt(variance before / n before + variance after / n after), is at
// least 4.5, with at least 30 values on each side. The bound is higher than that of one test, since the condition is evaluated about a hundred times
// in its time: by simulation (TestCompare_FalseAlerts) less than 0.05 % of the times without a change have a false alert, also if any fall is enough.
//
// Source: Welch, B. L.: The generalization of "Student's" problem when several different population variances are involved. Biometrika 34, 1947.
func Compare(before, after []float64, fall float64) (m Means, isFall bool) {
	meanBefore, squaresBefore := moments(before)
	meanAfter, squaresAfter := moments(after)
	m = Means{meanBefore, meanAfter}
	if len(before) < MinScored || len(after) < MinScored {
		return m, false
	}
	deviation := math.Sqrt(squaresBefore/float64(len(before)) + squaresAfter/float64(len(after)))
	const rounding = 1e-9
	return m, m.Before-m.After >= fall-rounding && (m.Before-m.After)/deviation >= minWelch
}

// moments returns the mean of values, and their variance, at least minSquares.
func moments(values []float64) (mean, variance float64) {
	if len(values) < 2 {
		return 0, minSquares
	}
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	return mean, max(variance/float64(len(values)-1), minSquares)
}

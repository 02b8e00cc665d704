package policy

import (
	"strconv"
	"strings"
	"time"
)

// join concatenates the parts of a reason. Every decision has a reason; fmt would cost more than the
// decision.
func join(parts ...string) string { return strings.Join(parts, "") }

// numberText returns x with three digits.
func numberText(x float64) string {
	decimals := 2
	switch {
	case x >= 100:
		decimals = 0
	case x >= 10:
		decimals = 1
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "0" && x > 0 {
		return "less than 0.01"
	}
	return text
}

// durationText returns d in seconds below 10 minutes, in minutes below 2 hours, otherwise in hours.
func durationText(d time.Duration) string {
	if d < 10*time.Minute {
		return strconv.FormatInt(int64(d.Round(time.Second)/time.Second), 10) + " s"
	}
	minutes := int64(d.Round(time.Minute) / time.Minute)
	if minutes < 120 {
		return strconv.FormatInt(minutes, 10) + " min"
	}
	return numberText(float64(minutes)/60) + " h"
}

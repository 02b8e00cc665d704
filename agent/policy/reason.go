package policy

import (
	"strconv"
	"strings"
	"time"
)

// sentence joins the parts of a reason. Reasons are made for every decision, so
// it does without fmt, which would cost more than the decision.
func sentence(parts ...string) string { return strings.Join(parts, "") }

// number returns x with three digits, as a person reads it.
func number(x float64) string {
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

// span returns d in whole minutes, or in seconds if it is short.
func span(d time.Duration) string {
	if d < 10*time.Minute {
		return strconv.FormatInt(int64(d.Round(time.Second)/time.Second), 10) + " s"
	}
	minutes := int64(d.Round(time.Minute) / time.Minute)
	if minutes < 120 {
		return strconv.FormatInt(minutes, 10) + " min"
	}
	return number(float64(minutes)/60) + " h"
}

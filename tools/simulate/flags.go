package main

import (
	"fmt"
	"strconv"
	"strings"
)

// A daySpan is days to learn and days to score, written as 28+7.
type daySpan struct{ learn, score int }

// maxDays bounds the duration of a simulation.
const maxDays = 5000

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *daySpan) UnmarshalText(text []byte) error {
	learn, score, _ := strings.Cut(string(text), "+")
	var err, err2 error
	d.learn, err = strconv.Atoi(learn)
	d.score, err2 = strconv.Atoi(score)
	if err != nil || err2 != nil || d.learn < 1 || d.score < 1 || d.learn > maxDays || d.score > maxDays {
		return fmt.Errorf("invalid days %q; write LEARN+SCORE as 28+7, each from 1 to %d", text, maxDays)
	}
	return nil
}

// A seedRange is all seeds from first to last, written as 1..3 or 1.
type seedRange struct{ first, last uint64 }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *seedRange) UnmarshalText(text []byte) error {
	first, last, several := strings.Cut(string(text), "..")
	if !several {
		last = first
	}
	var err, err2 error
	s.first, err = strconv.ParseUint(first, 10, 32)
	s.last, err2 = strconv.ParseUint(last, 10, 32)
	if err != nil || err2 != nil || s.first < 1 || s.last < s.first || s.last-s.first >= 100 {
		return fmt.Errorf("invalid seeds %q; write one as 1 or a range as 1..3, from 1 on, at most 100 seeds", text)
	}
	return nil
}

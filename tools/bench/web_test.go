package main

import (
	"testing"
	"time"
)

func TestStartOfWork(t *testing.T) {
	for hour := range 24 {
		now := time.Date(2026, 11, 30, hour, 59, 0, 0, time.UTC)
		offset := startOfWork(now)
		if got := now.Add(offset).Hour(); got != 9 || offset < -12*time.Hour || offset > 11*time.Hour {
			t.Errorf("at %v UTC: got %v, where it is %d o'clock", now, offset, got)
		}
	}
}

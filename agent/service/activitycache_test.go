package service

import (
	"testing"
	"time"

	"feedmesh/storage/enginetest"
)

func TestStatistics_DaysInTimeZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 4, 2, 12, 0, 0, 0, time.UTC)
	berlin, err := ParseZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	list, err := newActivityCache().days(t.Context(), enginetest.Store(t), 7, at, berlin)
	if err != nil {
		t.Fatal(err)
	}
	long := list[3].begin.Sub(list[2].begin) // 29 March, when clocks go forward
	if list[0].begin.Format(time.RFC3339) != "2026-03-27T00:00:00+01:00" || list[6].begin.Format(time.RFC3339) != "2026-04-02T00:00:00+02:00" || long != 23*time.Hour {
		t.Errorf("got days from %v to %v, that of summer time %v long", list[0].begin, list[6].begin, long)
	}
}

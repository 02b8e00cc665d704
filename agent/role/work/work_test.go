package work

import (
	"testing"
	"time"
)

func TestClock_TruncatesToMicroseconds(t *testing.T) {
	zone := time.FixedZone("somewhere", 3*3600)
	odd := Clock(func() time.Time { return time.Date(2026, 9, 1, 15, 0, 0, 1234, zone) })
	if got, want := odd.Now(), time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC).Add(time.Microsecond); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Clock(nil).Now(); time.Since(got) > time.Minute || got.Location() != time.UTC {
		t.Errorf("got %v from the nil clock, want the real time in UTC", got)
	}
}

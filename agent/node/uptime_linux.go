package node

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns the time since boot, including the time that the machine slept.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err) // every supported kernel has this clock
	}
	return time.Duration(t.Nano())
}

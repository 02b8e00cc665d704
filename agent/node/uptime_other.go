//go:build !linux

package node

import "time"

var started = time.Now()

// sinceBoot returns the time since the start of the process. Where its clock stops while the machine sleeps, that
// counts as a jump of the system clock.
func sinceBoot() time.Duration { return time.Since(started) }

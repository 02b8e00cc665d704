package schedule

import (
	"time"
)

// minJump is the difference between the system clock and the time since boot, in one round, that counts as a
// jump of the clock. Smaller corrections are adopted without one.
const minJump = 2 * time.Second

// A clockWatch compares the system clock with the time since boot.
type clockWatch struct {
	wall   time.Time
	uptime time.Duration
}

// jump returns by how much the clock jumped since the last call; 0 if it did not.
func (w *clockWatch) jump(wall time.Time, uptime time.Duration) time.Duration {
	last := *w
	w.wall, w.uptime = wall, uptime
	if last.wall.IsZero() {
		return 0
	}
	if d := wall.Sub(last.wall) - (uptime - last.uptime); d >= minJump || d <= -minJump {
		return d
	}
	return 0
}

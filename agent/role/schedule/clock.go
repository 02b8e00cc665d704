package schedule

import (
	"context"
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

// now returns the time of due times. It moves them with a jump of the system clock: otherwise feeds would be due
// too early or, until the clock is right again, not at all. s.mu must be held.
func (s *scheduler) now() time.Time {
	now := s.clock.Now()
	if s.uptime == nil {
		return now // a clock of tests or simulations, which jumps on purpose
	}
	if d := s.watch.jump(now, s.uptime()); d != 0 {
		s.plan.Shift(d)
		s.log.Warn("system clock jumped, due times moved with it", "by", d.Round(time.Second))
		s.notice("the system clock jumped by %v, due times moved with it", d.Round(time.Second))
	}
	return now
}

// clampDueTimes corrects due times that were written while a clock was wrong.
func (s *scheduler) clampDueTimes(ctx context.Context) error {
	s.mu.Lock()
	feeds := s.plan.Clamp(s.now())
	if len(feeds) > 0 {
		s.notice("the due times of %d feeds were written while a clock was wrong, and were corrected", len(feeds))
	}
	s.mu.Unlock()
	if len(feeds) == 0 {
		return nil
	}
	s.log.Warn("due times corrected, a clock was wrong when they were written", "feeds", len(feeds))
	return s.states.write(ctx, changes{states: statesOf(feeds)})
}

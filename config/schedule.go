package config

import (
	"fmt"
	"time"
)

// faultsOfSchedule returns what is wrong with the settings of when feeds are
// polled.
func (c Config) faultsOfSchedule() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	s, t := c.Schedule, c.Schedule.Tiers
	if c.RequestsPerSecond < 0 || c.RequestsPerSecond > 100_000 {
		fault("requests-per-second: %v is not between 0 and 100000", c.RequestsPerSecond)
	}
	if s.Interval < 0 || s.Interval > 0 && s.Interval < time.Second {
		fault("schedule.interval: %v is less than 1s", s.Interval)
	}
	switch {
	case s.Policy == "tiers" && s.Interval > 0:
		fault("schedule.interval: policy tiers has its own; leave it out, or choose policy uniform")
	case s.Policy == "uniform" && s.Interval == 0:
		fault("schedule.interval: policy uniform needs it, as 10m")
	}
	if s.HostSpacing < 0 || s.HostSpacing > time.Hour {
		fault("schedule.host-spacing: %v is not between 0s and 1h", s.HostSpacing)
	}
	if t.WarmRate < 0 || t.HotRate < t.WarmRate {
		fault("schedule.tiers: hot-rate %v must be at least warm-rate %v, and that at least 0", t.HotRate, t.WarmRate)
	}
	if t.HotShare < 0 || t.WarmShare < 0 || t.HotShare+t.WarmShare > 1 {
		fault("schedule.tiers: hot-share %v and warm-share %v must not be negative, nor more than 1 together", t.HotShare, t.WarmShare)
	}
	if t.From < 0 || t.To > 24 || t.From >= t.To {
		fault("schedule.tiers: the working day from %d to %d is none; write hours from 0 to 24", t.From, t.To)
	}
	for _, d := range []struct {
		name string
		time time.Duration
	}{
		{"floor", s.Floor}, {"tiers.hot-day", t.HotDay}, {"tiers.hot-night", t.HotNight}, {"tiers.warm", t.Warm}, {"tiers.cold", t.Cold},
	} {
		if d.time < time.Second || d.time > 24*time.Hour {
			fault("schedule.%s: %v is not between 1s and 24h", d.name, d.time)
		}
	}
	return faults
}

package config

import (
	"fmt"
	"time"

	"feedmesh/storage"
)

// MaxPartitions bounds the partitions of the schedule, which divide the slots of hosts.
const MaxPartitions = storage.HostSlots

// validateSchedule returns the errors of the polling settings.
func (c Config) validateSchedule() (errs []error) {
	addError := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	s, t := c.Schedule, c.Schedule.Tiers
	if c.RequestsPerSecond < 0 || c.RequestsPerSecond > 100_000 {
		addError("requests-per-second: %v is not between 0 and 100000", c.RequestsPerSecond)
	}
	if s.Interval < 0 || s.Interval > 0 && s.Interval < time.Second {
		addError("schedule.interval: %v is less than 1s", s.Interval)
	}
	switch {
	case s.Policy == "tiers" && s.Interval > 0:
		addError("schedule.interval: cannot be combined with policy tiers; remove it, or use policy uniform")
	case s.Policy == "uniform" && s.Interval == 0:
		addError("schedule.interval: is required by policy uniform, such as 10m")
	}
	if n := s.Partitions; n < 1 || n > MaxPartitions || n&(n-1) != 0 {
		addError("schedule.partitions: %d is not a power of two from 1 to %d", n, MaxPartitions)
	}
	if s.HostSpacing < 0 || s.HostSpacing > time.Hour {
		addError("schedule.host-spacing: %v is not between 0s and 1h", s.HostSpacing)
	}
	if t.WarmRate < 0 || t.HotRate < t.WarmRate {
		addError("schedule.tiers: hot-rate %v must be at least warm-rate %v, and warm-rate at least 0", t.HotRate, t.WarmRate)
	}
	if t.HotShare < 0 || t.WarmShare < 0 || t.HotShare+t.WarmShare > 1 {
		addError("schedule.tiers: hot-share %v and warm-share %v must not be negative, and at most 1 in total", t.HotShare, t.WarmShare)
	}
	if t.From < 0 || t.To > 24 || t.From >= t.To {
		addError("schedule.tiers: invalid working day from %d to %d; write hours from 0 to 24", t.From, t.To)
	}
	for _, d := range []struct {
		name string
		time time.Duration
	}{
		{"floor", s.Floor}, {"tiers.hot-day", t.HotDay}, {"tiers.hot-night", t.HotNight}, {"tiers.warm", t.Warm}, {"tiers.cold", t.Cold},
	} {
		if d.time < time.Second || d.time > 24*time.Hour {
			addError("schedule.%s: %v is not between 1s and 24h", d.name, d.time)
		}
	}
	return errs
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/pprof/profile"
)

// A memoryWatch samples the memory of a process each second.
type memoryWatch struct{ all []float64 } // in MB

func (w *memoryWatch) run(ctx context.Context, pid int) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		w.all = append(w.all, float64(memoryOf(pid, "VmRSS"))/1e6)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// mean returns the mean of the samples.
func (w *memoryWatch) mean() float64 {
	sum := 0.0
	for _, mb := range w.all {
		sum += mb
	}
	return sum / float64(len(w.all))
}

// A cpuWatch requests CPU profiles from a process, one after another.
type cpuWatch struct {
	merged  *profile.Profile
	covered time.Duration // sum of the profiles' durations
}

const profileLasts = 30 * time.Second

// run requests profiles from a process's address until ctx ends.
func (w *cpuWatch) run(ctx context.Context, health string) error {
	end, _ := ctx.Deadline()
	for ctx.Err() == nil {
		lasts := min(profileLasts, time.Until(end).Truncate(time.Second))
		if lasts <= 0 {
			<-ctx.Done()
			break
		}
		response, err := get(context.WithoutCancel(ctx), fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", health, int(lasts.Seconds())))
		if err != nil {
			return err
		}
		p, err := profile.Parse(response.Body)
		response.Body.Close()
		if err != nil {
			return fmt.Errorf("read a profile: %w", err)
		}
		w.covered += lasts
		if w.merged != nil {
			p, err = profile.Merge([]*profile.Profile{w.merged, p})
		}
		if err != nil {
			return err
		}
		w.merged = p
	}
	if w.merged == nil {
		return errors.New("the phase was too short for a profile")
	}
	return nil
}

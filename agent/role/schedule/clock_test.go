package schedule

import (
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/role/work/worktest"
)

func TestClockWatch_NoticesJumpsOnly(t *testing.T) {
	at := worktest.Noon
	for _, c := range []struct {
		what string
		wall time.Duration // in a round of one second
		want time.Duration
	}{
		{"right", time.Second, 0},
		{"slewed", 1500 * time.Millisecond, 0},
		{"an hour ahead", time.Hour + time.Second, time.Hour},
		{"an hour back", -time.Hour + time.Second, -time.Hour},
	} {
		w := clockWatch{at, 10 * time.Second}
		if got := w.jump(at.Add(c.wall), 11*time.Second); got != c.want {
			t.Errorf("%s: got a jump of %v, want %v", c.what, got, c.want)
		}
		if got := w.jump(at.Add(c.wall+time.Minute), 71*time.Second); got != 0 {
			t.Errorf("%s: then got a jump of %v, want none", c.what, got)
		}
	}
	if got := new(clockWatch).jump(at, time.Second); got != 0 {
		t.Errorf("first call: got %v, want 0", got)
	}
}

// The clock jumps ahead for a while and back: no feed is polled more or less often than otherwise.
func TestSchedule_ClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			r := newTestbed(t)
			env := r.Env(r.Mesh)
			env.Store = worktest.ManyFeeds(t, 30)
			var uptime atomic.Int64
			env.Uptime = func() time.Duration { return time.Duration(uptime.Load()) }
			s := newScheduler(env, newMetrics(env.Metrics), 0, 1)
			s.wall = env.Clock
			pass := func(d time.Duration) { r.Advance(d); uptime.Add(int64(d)) }
			round := func() int {
				t.Helper()
				r.purge()
				if err := s.dispatch(t.Context()); err != nil {
					t.Fatal(err)
				}
				tasks := r.crawls()
				for _, task := range tasks {
					for _, f := range task.Feeds {
						s.plan.Observe(about(f.FeedID, "unchanged", task.ID(), r.Clock()), r.Clock())
					}
				}
				return r.feedsIn(tasks)
			}
			if err := s.load(t.Context()); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
			if n := round(); n != 30 {
				t.Fatalf("got %d new feeds polled, want 30", n)
			}
			before := s.plan.Counts()
			r.Advance(jump)
			if n := round(); n != 0 {
				t.Errorf("right after the jump: %d feeds polled, want none", n)
			}
			pass(2 * time.Hour) // all feeds are due, and polled while the clock is wrong
			if n := round(); n != 30 {
				t.Errorf("while the clock is wrong: %d feeds polled, want 30", n)
			}
			r.Advance(-jump)
			if n := round(); n != 0 {
				t.Errorf("right after the clock is right again: %d feeds polled, want none", n)
			}
			pass(2 * time.Hour)
			if n := round(); n != 30 || s.plan.Counts() != before {
				t.Errorf("at last: %d feeds polled, want 30", n)
			}
		})
	}
}

package node

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestChecks_HangingDependencyTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		hang := make(chan struct{})
		cause := errors.New("disk failure")
		n := &health{probes: []*probe{
			newProbe("hangs", func(context.Context) error { calls.Add(1); <-hang; return nil }),
			newProbe("slow", func(context.Context) error { time.Sleep(time.Second); return nil }),
			newProbe("waits", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
			newProbe("failing", func(context.Context) error { return cause }),
		}}
		if c := n.checks(t.Context()); len(c) != 1 || c[0].OK {
			t.Errorf("got %+v before the node runs, want not ready", c)
		}
		n.phase.Store(phaseRunning)
		for range 3 {
			began := time.Now()
			c := n.checks(t.Context())
			if took := time.Since(began); took > probeTimeout {
				t.Errorf("took %v, want %v at most", took, probeTimeout)
			}
			if c[0].OK || !strings.Contains(c[0].Detail, "no response") || !c[1].OK || c[2].OK || c[3].OK || c[3].Detail != cause.Error() {
				t.Errorf("got %+v, want only the slow dependency OK", c)
			}
		}
		if calls.Load() != 1 {
			t.Errorf("got %d calls of the hanging check, want 1", calls.Load())
		}
		close(hang)
		synctest.Wait()
		if c := n.checks(t.Context()); !c[0].OK {
			t.Errorf("got %+v after the dependency recovered, want OK", c[0])
		}
	})
}

func TestProbe_ConcurrentChecks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProbe("slow", func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil })
		var passed atomic.Int32
		for range 10 {
			go func() {
				if p.check(t.Context()).OK {
					passed.Add(1)
				}
			}()
		}
		time.Sleep(3 * time.Second)
		if passed.Load() != 10 {
			t.Errorf("got %d of 10 checks passed, want all", passed.Load())
		}
	})
}

// The first import stores items faster than they become searchable: its index is not lost.
func TestRefill(t *testing.T) {
	var r refill
	now := time.Now()
	for _, at := range []struct {
		seconds         int
		indexed, stored int64
		want            bool
	}{
		{0, 100, 700, false}, // an import begins
		{5, 700, 1000, false},
		{15, 1500, 2400, false},
		{30, 2400, 2400, false},
		{40, 0, 2400, false}, // lost
		{45, 300, 2400, false},
		{50, 600, 2400, true},
		{60, 2300, 2400, true},
		{70, 2380, 2400, false},
	} {
		if got := r.goesOn(now.Add(time.Duration(at.seconds)*time.Second), at.indexed, at.stored); got != at.want {
			t.Errorf("after %d s, %d of %d items: got %t, want %t", at.seconds, at.indexed, at.stored, got, at.want)
		}
	}
}

func TestRefill_CountsWhenTheIndexMayLackItems(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name    string
		refill  refill
		after   time.Duration
		indexed int64
		want    bool
	}{
		{"the first time", refill{}, 0, 100, true},
		{"with all items", refill{stored: 100, counted: now}, time.Second, 100, false},
		{"a minute later", refill{stored: 100, counted: now}, recountInterval, 100, true},
		{"when most are missing", refill{stored: 100, counted: now}, time.Second, 49, true},
		{"when all are missing", refill{counted: now}, time.Second, 0, true},
		{"while it is filled", refill{stored: 100, counted: now, lost: true}, time.Second, 90, true},
	} {
		if got := c.refill.mustCount(now.Add(c.after), c.indexed); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

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

func TestAThingThatHangsIsToldInTimeAndAskedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		hang := make(chan struct{})
		ill := errors.New("the disk is on fire")
		n := &node{probes: []*probe{
			newProbe("hangs", func(context.Context) error { asked.Add(1); <-hang; return nil }),
			newProbe("slow", func(context.Context) error { time.Sleep(time.Second); return nil }),
			newProbe("waits", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
			newProbe("ill", func(context.Context) error { return ill }),
		}}
		if c := n.checks(t.Context()); len(c) != 1 || c[0].OK {
			t.Errorf("got %+v before it runs, want it not ready", c)
		}
		n.running.Store(true)
		for range 3 {
			began := time.Now()
			c := n.checks(t.Context())
			if took := time.Since(began); took > probeTime {
				t.Errorf("took %v, want %v at most", took, probeTime)
			}
			if c[0].OK || !strings.Contains(c[0].Detail, "not answered") || !c[1].OK || c[2].OK || c[3].OK || c[3].Detail != ill.Error() {
				t.Errorf("got %+v, want only the slow one well", c)
			}
		}
		if asked.Load() != 1 {
			t.Errorf("asked what hangs %d times, want once", asked.Load())
		}
		close(hang)
		synctest.Wait()
		if c := n.checks(t.Context()); !c[0].OK {
			t.Errorf("got %+v of what hung before, want it well again", c[0])
		}
	})
}

func TestManyMayAskAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProbe("slow", func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil })
		var well atomic.Int32
		for range 10 {
			go func() {
				if p.check(t.Context()).OK {
					well.Add(1)
				}
			}()
		}
		time.Sleep(3 * time.Second)
		if well.Load() != 10 {
			t.Errorf("got %d of 10 answered well, want all", well.Load())
		}
	})
}

package work_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"feedmesh/agent/role/work"
)

// changing is a store that announces changes.
type changing struct{ announced chan struct{} }

func (c *changing) Changed() <-chan struct{} { return c.announced }

func (c *changing) change() {
	announced := c.announced
	c.announced = make(chan struct{})
	close(announced)
}

// unannounced is a store that does not announce changes.
type unannounced struct{}

func (unannounced) Changed() <-chan struct{} { return nil }

// polls runs Poll until the end of a test and returns a channel that gets the time of each call since the first. Poll ends when calls
// returns an error.
func polls(t *testing.T, store interface{ Changed() <-chan struct{} }, wake <-chan struct{}, call func() (more bool, err error)) <-chan time.Duration {
	calls, began := make(chan time.Duration, 100), time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = work.Poll(ctx, store, time.Second, wake, func(context.Context) (bool, error) {
			calls <- time.Since(began)
			return call()
		})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	if first := <-calls; first != 0 {
		t.Errorf("the first call is after %v, want at once", first)
	}
	return calls
}

func rests() (bool, error) { return false, nil }

func TestPoll_RestsUntilTheStoreChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &changing{make(chan struct{})}
		calls := polls(t, store, nil, rests)
		time.Sleep(5 * time.Second)
		store.change()
		if at := <-calls; at != 5*time.Second {
			t.Errorf("called after %v, want at the change after 5s", at)
		}
		store.change()
		if at := <-calls; at != 6*time.Second {
			t.Errorf("called after %v, want an interval after the call before", at)
		}
		if at := <-calls; at <= 7*time.Second || at > 6*time.Second+time.Second+work.MaxRest {
			t.Errorf("called after %v without a change, want at most MaxRest later", at)
		}
	})
}

func TestPoll_NoticesAChangeDuringACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &changing{make(chan struct{})}
		n := 0
		calls := polls(t, store, nil, func() (bool, error) {
			if n++; n == 1 {
				store.change()
			}
			return false, nil
		})
		if at := <-calls; at != time.Second {
			t.Errorf("called after %v, want after an interval", at)
		}
	})
}

func TestPoll_CallsAtEachIntervalWithMoreWorkOrWithoutAnnouncements(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]struct {
		store interface{ Changed() <-chan struct{} }
		more  bool
	}{
		"more work":        {&changing{make(chan struct{})}, true},
		"no announcements": {unannounced{}, false},
		"both":             {unannounced{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := polls(t, do.store, nil, func() (bool, error) { return do.more, nil })
				for want := range 3 {
					if at := <-calls; at != time.Duration(want+1)*time.Second {
						t.Errorf("called after %v, want %d s", at, want+1)
					}
				}
			})
		})
	}
}

func TestPoll_WakesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{})
		calls := polls(t, &changing{make(chan struct{})}, wake, rests)
		for _, after := range []time.Duration{200 * time.Millisecond, 3 * time.Second} { // before the interval has passed, and after it
			began := time.Now()
			time.Sleep(after)
			wake <- struct{}{}
			<-calls
			if took := time.Since(began); took != after {
				t.Errorf("called after %v, want at once after %v", took, after)
			}
		}
	})
}

func TestPoll_ReturnsTheError(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	err := work.Poll(t.Context(), unannounced{}, time.Second, nil, func(context.Context) (bool, error) { return true, failed })
	if !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of the call", err)
	}
}

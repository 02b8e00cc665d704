package role

import (
	"context"
	"sync"
	"time"
)

// hostLocks lets one fetch at a time go to a host, over all tasks of this
// process. It holds no more hosts than are in use, or were a moment ago.
type hostLocks struct {
	spacing time.Duration // from the start of a page's fetch to the next start of any

	mu    sync.Mutex
	hosts map[string]*hostLock
}

type hostLock struct {
	free  chan struct{} // holds one token while nobody fetches
	users int

	// For who has the token: when the last fetch began, and whether for a page.
	began time.Time
	page  bool
}

func newHostLocks() *hostLocks { return &hostLocks{hosts: map[string]*hostLock{}} }

// take waits for the host to be free and returns what frees it again. It is for
// feeds, which the schedule spaces; of pages it does not know, so that take waits
// for the spacing after one.
func (l *hostLocks) take(ctx context.Context, host string) (release func(), err error) {
	h := l.enter(host)
	if err := h.lock(ctx); err != nil {
		l.leave(host, h)
		return nil, err
	}
	if h.page {
		// With the token in hand: no other page comes between.
		if err := waitFor(ctx, l.spacing-time.Since(h.began)); err != nil {
			h.free <- struct{}{}
			l.leave(host, h)
			return nil, err
		}
	}
	return l.begin(host, h, false, l.spacing), nil
}

// takeForPage waits for the host to be free, and for as long as gap to have passed
// since the last fetch from it began. Feeds that come meanwhile go first. If that
// can't be before ctx ends, it does not wait.
func (l *hostLocks) takeForPage(ctx context.Context, host string, gap time.Duration) (release func(), err error) {
	h := l.enter(host)
	for {
		if err := h.lock(ctx); err != nil {
			l.leave(host, h)
			return nil, err
		}
		rest := gap - time.Since(h.began)
		if rest <= 0 {
			return l.begin(host, h, true, gap), nil
		}
		h.free <- struct{}{}
		if err := waitFor(ctx, rest); err != nil {
			l.leave(host, h)
			return nil, err
		}
	}
}

// begin notes that a fetch begins, and returns what ends it. The host is
// remembered until nobody must wait for it any more.
func (l *hostLocks) begin(host string, h *hostLock, page bool, gap time.Duration) (release func()) {
	began := time.Now()
	h.began, h.page = began, page
	return func() {
		h.free <- struct{}{}
		if rest := gap - time.Since(began); rest > 0 {
			time.AfterFunc(rest, func() { l.leave(host, h) })
		} else {
			l.leave(host, h)
		}
	}
}

func (l *hostLocks) enter(host string) *hostLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	if h == nil {
		h = &hostLock{free: make(chan struct{}, 1)}
		h.free <- struct{}{}
		l.hosts[host] = h
	}
	h.users++
	return h
}

func (l *hostLocks) leave(host string, h *hostLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(l.hosts, host)
	}
}

// lock waits for the token.
func (h *hostLock) lock(ctx context.Context) error {
	select {
	case <-h.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitFor waits for d, if that can be before ctx ends.
func waitFor(ctx context.Context, d time.Duration) error {
	if deadline, is := ctx.Deadline(); is && time.Until(deadline) < d {
		return context.DeadlineExceeded
	}
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

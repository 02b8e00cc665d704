package site

import (
	"context"
	"sync"
	"time"
)

// Locks allow one fetch at a time from a host, over all tasks of this process. They contain only hosts in
// use, and recently used ones until their spacing has passed.
type Locks struct {
	Spacing time.Duration // minimum time from the start of a page's fetch to the next start of a fetch

	mu    sync.Mutex
	hosts map[string]*hostLock
}

type hostLock struct {
	token chan struct{} // contains one token while the lock is free
	users int

	// Protected by the token: start of the last fetch, and whether it was a page.
	began time.Time
	page  bool
}

// NewLocks returns locks with a spacing of the fetches of pages.
func NewLocks(spacing time.Duration) *Locks {
	return &Locks{Spacing: spacing, hosts: map[string]*hostLock{}}
}

// Hosts returns the number of hosts in use, or whose spacing has not passed.
func (l *Locks) Hosts() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.hosts)
}

// LockForFeed locks a host for a feed and returns the unlock function. The schedule spaces feeds but not
// pages, so after a page LockForFeed waits for the spacing.
func (l *Locks) LockForFeed(ctx context.Context, host string) (release func(), err error) {
	h := l.enter(host)
	if err := h.lock(ctx); err != nil {
		l.leave(host, h)
		return nil, err
	}
	if h.page {
		// Holding the token: no other page can start in between.
		if err := waitFor(ctx, l.Spacing-time.Since(h.began)); err != nil {
			h.token <- struct{}{}
			l.leave(host, h)
			return nil, err
		}
	}
	return l.begin(host, h, false, l.Spacing), nil
}

// LockForPage locks a host for a page, at least gap after the start of the last fetch from it. Waiting feeds
// take precedence. If the wait exceeds ctx's deadline, it fails without waiting.
func (l *Locks) LockForPage(ctx context.Context, host string, gap time.Duration) (release func(), err error) {
	h := l.enter(host)
	for {
		if err := h.lock(ctx); err != nil {
			l.leave(host, h)
			return nil, err
		}
		wait := gap - time.Since(h.began)
		if wait <= 0 {
			return l.begin(host, h, true, gap), nil
		}
		h.token <- struct{}{}
		if err := waitFor(ctx, wait); err != nil {
			l.leave(host, h)
			return nil, err
		}
	}
}

// begin records the start of a fetch and returns the function that ends it. The host's entry stays until its
// spacing has passed.
func (l *Locks) begin(host string, h *hostLock, page bool, gap time.Duration) (release func()) {
	began := time.Now()
	h.began, h.page = began, page
	return func() {
		h.token <- struct{}{}
		if wait := gap - time.Since(began); wait > 0 {
			time.AfterFunc(wait, func() { l.leave(host, h) })
		} else {
			l.leave(host, h)
		}
	}
}

func (l *Locks) enter(host string) *hostLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	if h == nil {
		h = &hostLock{token: make(chan struct{}, 1)}
		h.token <- struct{}{}
		l.hosts[host] = h
	}
	h.users++
	return h
}

func (l *Locks) leave(host string, h *hostLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(l.hosts, host)
	}
}

// lock waits for the token.
func (h *hostLock) lock(ctx context.Context) error {
	select {
	case <-h.token:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitFor waits for d, or fails immediately if d exceeds ctx's deadline.
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

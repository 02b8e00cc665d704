package site

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

const spacing = 2 * time.Second

func locks() *Locks {
	l := NewLocks(0)
	l.Spacing = spacing
	return l
}

// lockHost locks a host and returns the time that it took.
func lockHost(t *testing.T, take func() (func(), error)) (waited time.Duration, release func()) {
	t.Helper()
	began := time.Now()
	release, err := take()
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(began), release
}

func TestHostLocks_SpacingOfFeedsAndPages(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  string
		second string
		apart  time.Duration // from start to start
	}{
		{"a page after a feed", "feed", "page", spacing},
		{"a page after a page", "page", "page", spacing},
		{"a page of a site that wants more", "page", "slow page", 10 * time.Second},
		{"a feed after a page", "page", "feed", spacing},
		{"a feed after a page of a site that wants more", "slow page", "feed", spacing},
		{"a feed after a feed, which the schedule spaces", "feed", "feed", time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := locks()
			take := func(what string) func() (func(), error) {
				return func() (func(), error) {
					switch what {
					case "feed":
						return l.LockForFeed(t.Context(), "a.example")
					case "page":
						return l.LockForPage(t.Context(), "a.example", spacing)
					}
					return l.LockForPage(t.Context(), "a.example", 10*time.Second)
				}
			}
			began := time.Now()
			_, release := lockHost(t, take(c.first))
			time.Sleep(time.Second) // duration of the fetch
			release()
			_, release = lockHost(t, take(c.second))
			if got := time.Since(began); got != c.apart {
				t.Errorf("%s: got %v from start to start, want %v", c.name, got, c.apart)
			}
			release()
			if waited, release := lockHost(t, func() (func(), error) { return l.LockForPage(t.Context(), "b.example", spacing) }); waited > 0 {
				t.Errorf("%s: another host waited for %v, want no wait", c.name, waited)
			} else {
				release()
			}
			time.Sleep(time.Minute)
			if n := l.Hosts(); n != 0 {
				t.Errorf("%s: got %d hosts locked a minute later, want none", c.name, n)
			}
		})
	}
}

func TestHostLocks_FeedsPrecedePages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := locks()
		_, release := lockHost(t, func() (func(), error) { return l.LockForPage(t.Context(), "a.example", spacing) })
		release()
		order := make(chan string, 5)
		for range 4 {
			go func() {
				release, err := l.LockForPage(t.Context(), "a.example", spacing)
				if err != nil {
					t.Error(err)
					return
				}
				order <- "page"
				release()
			}()
		}
		synctest.Wait()
		go func() {
			release, err := l.LockForFeed(t.Context(), "a.example")
			if err != nil {
				t.Error(err)
				return
			}
			order <- "feed"
			release()
		}()
		if first := <-order; first != "feed" {
			t.Errorf("got the %s first, want the feed", first)
		}
		for range 4 {
			<-order
		}
		time.Sleep(time.Minute)
	})
}

func TestHostLocks_FailsEarlyBeforeTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := locks()
		_, release := lockHost(t, func() (func(), error) { return l.LockForPage(t.Context(), "a.example", spacing) })
		release()
		ctx, cancel := context.WithTimeout(t.Context(), spacing/2)
		defer cancel()
		began := time.Now()
		if _, err := l.LockForPage(ctx, "a.example", spacing); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 0 {
			t.Errorf("got %v after %v, want the missing time reported immediately", err, time.Since(began))
		}
		if _, err := l.LockForFeed(ctx, "a.example"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the missing time reported", err)
		}
		time.Sleep(spacing)
		if _, release := lockHost(t, func() (func(), error) { return l.LockForFeed(t.Context(), "a.example") }); release != nil {
			release()
		}
		time.Sleep(time.Minute)
		if n := l.Hosts(); n != 0 {
			t.Errorf("got %d hosts locked, want none", n)
		}
	})
}

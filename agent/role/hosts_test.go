package role

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

const spacing = 2 * time.Second

func locks() *hostLocks {
	l := newHostLocks()
	l.spacing = spacing
	return l
}

// remembered returns how many hosts are.
func remembered(l *hostLocks) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.hosts)
}

// taken takes a host, which must succeed, and returns after how long it had it.
func taken(t *testing.T, take func() (func(), error)) (waited time.Duration, release func()) {
	t.Helper()
	began := time.Now()
	release, err := take()
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(began), release
}

func TestSpacingOfFeedsAndPagesOfAHost(t *testing.T) {
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
						return l.take(t.Context(), "a.example")
					case "page":
						return l.takeForPage(t.Context(), "a.example", spacing)
					}
					return l.takeForPage(t.Context(), "a.example", 10*time.Second)
				}
			}
			began := time.Now()
			_, release := taken(t, take(c.first))
			time.Sleep(time.Second) // that the fetch takes
			release()
			_, release = taken(t, take(c.second))
			if got := time.Since(began); got != c.apart {
				t.Errorf("%s: got %v from start to start, want %v", c.name, got, c.apart)
			}
			release()
			if waited, release := taken(t, func() (func(), error) { return l.takeForPage(t.Context(), "b.example", spacing) }); waited > 0 {
				t.Errorf("%s: another host waited for %v, want it not to", c.name, waited)
			} else {
				release()
			}
			time.Sleep(time.Minute)
			if n := remembered(l); n != 0 {
				t.Errorf("%s: got %d hosts remembered a minute later, want none", c.name, n)
			}
		})
	}
}

func TestFeedsGoBeforePagesThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := locks()
		_, release := taken(t, func() (func(), error) { return l.takeForPage(t.Context(), "a.example", spacing) })
		release()
		order := make(chan string, 5)
		for range 4 {
			go func() {
				release, err := l.takeForPage(t.Context(), "a.example", spacing)
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
			release, err := l.take(t.Context(), "a.example")
			if err != nil {
				t.Error(err)
				return
			}
			order <- "feed"
			release()
		}()
		if first := <-order; first != "feed" {
			t.Errorf("a %s went first, want the feed", first)
		}
		for range 4 {
			<-order
		}
		time.Sleep(time.Minute)
	})
}

func TestNobodyWaitsForAHostInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := locks()
		_, release := taken(t, func() (func(), error) { return l.takeForPage(t.Context(), "a.example", spacing) })
		release()
		ctx, cancel := context.WithTimeout(t.Context(), spacing/2)
		defer cancel()
		began := time.Now()
		if _, err := l.takeForPage(ctx, "a.example", spacing); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 0 {
			t.Errorf("got %v after %v, want that there is no time, at once", err, time.Since(began))
		}
		if _, err := l.take(ctx, "a.example"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that there is no time", err)
		}
		time.Sleep(spacing)
		if _, release := taken(t, func() (func(), error) { return l.take(t.Context(), "a.example") }); release != nil {
			release()
		}
		time.Sleep(time.Minute)
		if n := remembered(l); n != 0 {
			t.Errorf("got %d hosts remembered, want none", n)
		}
	})
}

package access

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimiter_BurstThenRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(2, 3)
		for left := 2; left >= 0; left-- {
			if q := l.Take("a"); !q.OK || q.Left != left {
				t.Errorf("got %+v, want it allowed and %d left", q, left)
			}
		}
		if q := l.Take("a"); q.OK || q.Left != 0 || q.Wait != 500*time.Millisecond {
			t.Errorf("got %+v, want half a second to wait", q)
		}
		if q := l.Take("b"); !q.OK {
			t.Errorf("got %+v for another client, want it allowed", q)
		}
		if q := l.Peek("a"); q.OK {
			t.Errorf("got %+v, want the same without consuming", q)
		}
		time.Sleep(500 * time.Millisecond)
		if q := l.Peek("a"); !q.OK {
			t.Errorf("got %+v after the wait, want it allowed", q)
		}
		if q := l.Take("a"); !q.OK {
			t.Errorf("got %+v after the wait, want it allowed", q)
		}
		done := 0
		for range 100 { // in ten seconds
			if l.Take("a").OK {
				done++
			}
			time.Sleep(100 * time.Millisecond)
		}
		if done < 19 || done > 21 {
			t.Errorf("allowed %d times in ten seconds, want 2 a second", done)
		}
	})
}

func TestLimiter_NoLimit(t *testing.T) {
	for _, rate := range []float64{0, -1} {
		if l := NewLimiter(rate, 0); l != nil || !l.Take("a").OK || !l.Peek("a").OK {
			t.Errorf("a rate of %v: got a limit, want none", rate)
		}
	}
}

func TestLimiter_ClientBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(1, 5)
		for i := range 5 * maxClients {
			l.Take(fmt.Sprint(i))
			if i%1000 == 0 {
				time.Sleep(100 * time.Millisecond)
			}
			if len(l.clients) > maxClients {
				t.Fatalf("it stores %d clients, want at most %d", len(l.clients), maxClients)
			}
		}
		for range 5 {
			l.Take("busy")
		}
		time.Sleep(2 * time.Second) // the other clients have full buckets
		for i := range maxClients {
			l.Take(fmt.Sprint("new ", i))
		}
		if q := l.Peek("busy"); q.Left > 3 {
			t.Errorf("got %+v: a busy client was evicted before idle clients", q)
		}
	})
}

func TestLimiter_Overhead(t *testing.T) {
	l := NewLimiter(50, 200)
	begun := time.Now()
	for i := range 200_000 { // each from another address: the worst case
		l.Take(fmt.Sprint(i))
	}
	if each := time.Since(begun) / 200_000; each > 100*time.Microsecond {
		t.Errorf("a request takes %v, want microseconds", each)
	}
}

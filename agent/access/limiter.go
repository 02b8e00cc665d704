package access

import (
	"math"
	"sync"
	"time"
)

// maxClients is how many clients a limiter remembers, some 100 bytes each.
const maxClients = 10_000

// A Limiter lets each client do something so often a second, and a number of
// times at once. A nil Limiter has no limit. Its methods may be called
// concurrently.
type Limiter struct {
	rate  float64 // a second
	burst float64

	mu      sync.Mutex
	clients map[string]bucket
	swept   time.Time
}

// A bucket is what a client had left at a time. It fills as time passes.
type bucket struct {
	left float64
	at   time.Time
}

// NewLimiter returns a limiter of rate times a second and burst, at least 1, at
// once; nil if the rate is not positive.
func NewLimiter(rate float64, burst int) *Limiter {
	if rate <= 0 {
		return nil
	}
	return &Limiter{rate: rate, burst: float64(burst), clients: map[string]bucket{}}
}

// A Quota is what a client may do now.
type Quota struct {
	OK   bool          // it may do it now, if it asked for that
	Left int           // how often it may do it at once after that
	Wait time.Duration // until it may do it once more
}

// Take has a client do it once, if it may.
func (l *Limiter) Take(client string) Quota {
	if l == nil {
		return Quota{OK: true}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	left, ok := l.left(client, now), false
	if left >= 1 {
		left, ok = left-1, true
	}
	l.makeRoom(client, now)
	l.clients[client] = bucket{left, now}
	return l.quota(left, ok)
}

// Look returns what a client may do, and takes nothing.
func (l *Limiter) Look(client string) Quota {
	if l == nil {
		return Quota{OK: true}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.left(client, time.Now())
	return l.quota(left, left >= 1)
}

func (l *Limiter) quota(left float64, ok bool) Quota {
	q := Quota{OK: ok, Left: int(left)}
	if left < 1 {
		q.Wait = time.Duration(math.Ceil((1 - left) / l.rate * float64(time.Second)))
	}
	return q
}

// left returns what a client has left. One that is not known has all.
func (l *Limiter) left(client string, now time.Time) float64 {
	b, is := l.clients[client]
	if !is {
		return l.burst
	}
	return min(l.burst, b.left+l.rate*now.Sub(b.at).Seconds())
}

// makeRoom makes room for a client. Those who have all they can have need not be
// remembered. If that is nobody, somebody is forgotten: rather that one may do
// more than memory grows with each address that asks.
func (l *Limiter) makeRoom(client string, now time.Time) {
	if _, known := l.clients[client]; known || len(l.clients) < maxClients {
		return
	}
	if now.Sub(l.swept) > time.Second {
		l.swept = now
		for other := range l.clients {
			if l.left(other, now) >= l.burst {
				delete(l.clients, other)
			}
		}
	}
	for other := range l.clients {
		if len(l.clients) < maxClients {
			return
		}
		delete(l.clients, other)
	}
}

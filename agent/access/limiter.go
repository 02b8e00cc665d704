package access

import (
	"math"
	"sync"
	"time"
)

// maxClients is the maximum number of clients in a limiter, some 100 bytes each.
const maxClients = 10_000

// A Limiter is a rate limiter with a token bucket for each client. A nil Limiter has no limit. Its methods
// may be called concurrently.
type Limiter struct {
	rate  float64 // a second
	burst float64

	mu      sync.Mutex
	clients map[string]bucket
	swept   time.Time
}

// A bucket is the tokens that a client had left at a time. It refills with time.
type bucket struct {
	left float64
	at   time.Time
}

// NewLimiter returns a limiter of rate operations a second with bursts of up to burst, at least 1. It returns
// nil if the rate is not positive.
func NewLimiter(rate float64, burst int) *Limiter {
	if rate <= 0 {
		return nil
	}
	return &Limiter{rate: rate, burst: float64(burst), clients: map[string]bucket{}}
}

// A Quota is a client's remaining quota.
type Quota struct {
	OK   bool          // one operation is allowed now
	Left int           // operations allowed immediately after it
	Wait time.Duration // time until the next operation is allowed
}

// Take uses one operation of a client's quota, if it has any.
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
	l.evict(client, now)
	l.clients[client] = bucket{left, now}
	return l.quota(left, ok)
}

// Peek returns a client's quota without using it.
func (l *Limiter) Peek(client string) Quota {
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

// left returns the tokens in a client's bucket; a new client has a full bucket.
func (l *Limiter) left(client string, now time.Time) float64 {
	b, is := l.clients[client]
	if !is {
		return l.burst
	}
	return min(l.burst, b.left+l.rate*now.Sub(b.at).Seconds())
}

// evict makes room for a new client. It first evicts full buckets, then any: a client that regains its burst
// is better than memory that grows with every address.
func (l *Limiter) evict(client string, now time.Time) {
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

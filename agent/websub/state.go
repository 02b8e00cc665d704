package websub

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"
	"time"
)

// Requested and accepted leases, and delays.
const (
	lease    = 10 * 24 * time.Hour // requested
	maxLease = 14 * 24 * time.Hour // maximum accepted: detects a hub that lost the subscription
	minRenew = 10 * time.Minute    // between renewals, however short the lease

	confirmTimeout = time.Hour      // timeout of the hub's confirmation
	denialBackoff  = 24 * time.Hour // delay before a retry after a refusal
	minBackoff     = 5 * time.Minute
	maxBackoff     = 24 * time.Hour

	maxUnsubscribes = 3 // unsubscribe requests; later pushes get 410

	seenHash = 8  // stored bytes of a body's hash
	maxSeen  = 32 // stored hashes of a subscription
)

// awaits reports whether s waits for the confirmation of a request of that mode. A hub that missed our
// response retries its call, so a confirmed request can be confirmed again for a while.
func (s *Subscription) awaits(mode string, now time.Time) bool {
	if s.Requested.IsZero() || now.After(s.Requested.Add(confirmTimeout)) {
		return false
	}
	switch mode {
	case "subscribe":
		return s.State == Requested || s.State == Verified
	case "unsubscribe":
		return s.State == Unsubscribing || s.State == Unsubscribed
	}
	return false
}

// recordConfirmation records the hub's confirmation.
func (s *Subscription) recordConfirmation(granted time.Duration, now time.Time) {
	s.Failures, s.Error = 0, ""
	if s.State == Unsubscribing || s.State == Unsubscribed {
		s.State, s.Next = Unsubscribed, now.Add(confirmTimeout)
		return
	}
	s.State, s.Lease, s.Until = Verified, granted, now.Add(granted)
	s.Next = now.Add(max(granted*2/3, minRenew))
}

// recordRequest records a request to the hub.
func (s *Subscription) recordRequest(now time.Time) {
	if s.State == Unsubscribing {
		s.Failures++
	} else {
		s.State = Requested
	}
	s.Requested, s.Next = now, now.Add(confirmTimeout)
}

// recordFailure records a failed request.
func (s *Subscription) recordFailure(reason string, now time.Time) {
	if s.State != Unsubscribing {
		s.State = Failed
		s.Failures++
	}
	s.Error = reason
	s.Next = now.Add(min(minBackoff<<min(max(s.Failures-1, 0), 16), maxBackoff))
}

// recordDenial records the hub's refusal.
func (s *Subscription) recordDenial(reason string, now time.Time) {
	s.State, s.Error, s.Next = Denied, reason, now.Add(denialBackoff)
}

// unsubscribe records that pushes are no longer required.
func (s *Subscription) unsubscribe(now time.Time) {
	s.State, s.Until, s.Failures, s.Next = Unsubscribing, time.Time{}, 0, now
}

// recordBody records a delivered body.
func (s *Subscription) recordBody(body []byte, now time.Time) {
	hash := sha256.Sum256(body)
	s.Seen = append(s.Seen, hash[:seenHash]...)
	s.Seen = s.Seen[max(0, len(s.Seen)-maxSeen*seenHash):]
	s.Pushed = now
}

// isRepeated reports whether the body equals one of the last delivered bodies.
func (s *Subscription) isRepeated(body []byte) bool {
	hash := sha256.Sum256(body)
	for seen := range slices.Chunk(s.Seen, seenHash) {
		if bytes.Equal(seen, hash[:seenHash]) {
			return true
		}
	}
	return false
}

// parseLease parses the hub's lease in seconds, at most maxLease. Without a value, as from old hubs, it returns
// the requested lease.
func parseLease(seconds string) time.Duration {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil && n == 0 || n <= 0 {
		return lease
	}
	return time.Duration(min(n, int64(maxLease/time.Second))) * time.Second
}

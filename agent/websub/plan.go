package websub

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"
	"time"
)

// What we ask for and believe.
const (
	lease    = 10 * 24 * time.Hour // asked for
	maxLease = 14 * 24 * time.Hour // believed: a hub that forgot us is found out by then
	minRenew = 10 * time.Minute    // between renewals, however short the lease

	patience   = time.Hour      // for a hub to confirm what it accepted
	rest       = 24 * time.Hour // before a hub that refused is asked again
	backOff    = 5 * time.Minute
	maxBackOff = 24 * time.Hour

	maxPartings = 3 // requests to push no more; after these, pushes find nobody

	seenHash = 8  // bytes kept of a body's hash
	maxSeen  = 32 // hashes kept of a subscription
)

// confirms reports whether s is waiting for the hub to confirm a request of that
// mode. A hub that missed our answer asks once more, so what is confirmed can be
// confirmed again for a while.
func (s *Subscription) confirms(mode string, now time.Time) bool {
	if s.Asked.IsZero() || now.After(s.Asked.Add(patience)) {
		return false
	}
	switch mode {
	case "subscribe":
		return s.State == Asked || s.State == Verified
	case "unsubscribe":
		return s.State == Leaving || s.State == Left
	}
	return false
}

// confirm notes that the hub has confirmed what it was asked.
func (s *Subscription) confirm(granted time.Duration, now time.Time) {
	s.Failures, s.Error = 0, ""
	if s.State == Leaving || s.State == Left {
		s.State, s.Next = Left, now.Add(patience)
		return
	}
	s.State, s.Lease, s.Until = Verified, granted, now.Add(granted)
	s.Next = now.Add(max(granted*2/3, minRenew))
}

// ask notes that the hub is being asked.
func (s *Subscription) ask(now time.Time) {
	if s.State == Leaving {
		s.Failures++
	} else {
		s.State = Asked
	}
	s.Asked, s.Next = now, now.Add(patience)
}

// fail notes that asking came to nothing.
func (s *Subscription) fail(why string, now time.Time) {
	if s.State != Leaving {
		s.State = Failed
		s.Failures++
	}
	s.Error = why
	s.Next = now.Add(min(backOff<<min(max(s.Failures-1, 0), 16), maxBackOff))
}

// deny notes that the hub has refused.
func (s *Subscription) deny(why string, now time.Time) {
	s.State, s.Error, s.Next = Denied, why, now.Add(rest)
}

// leave notes that the feed's pushes are no longer wanted.
func (s *Subscription) leave(now time.Time) {
	s.State, s.Until, s.Failures, s.Next = Leaving, time.Time{}, 0, now
}

// bring notes that the hub brought a body.
func (s *Subscription) bring(body []byte, now time.Time) {
	hash := sha256.Sum256(body)
	s.Seen = append(s.Seen, hash[:seenHash]...)
	s.Seen = s.Seen[max(0, len(s.Seen)-maxSeen*seenHash):]
	s.Pushed = now
}

// brought reports whether the hub brought that body before, among the last ones.
func (s *Subscription) brought(body []byte) bool {
	hash := sha256.Sum256(body)
	for seen := range slices.Chunk(s.Seen, seenHash) {
		if bytes.Equal(seen, hash[:seenHash]) {
			return true
		}
	}
	return false
}

// granted returns the lease that a hub grants by a number of seconds, within
// what we believe; what we asked for if it does not say, as old hubs do.
func granted(seconds string) time.Duration {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil && n == 0 || n <= 0 {
		return lease
	}
	return time.Duration(min(n, int64(maxLease/time.Second))) * time.Second
}

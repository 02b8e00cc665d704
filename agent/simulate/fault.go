package simulate

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Fault is a permanent fault of a feed of a [Web].
type Fault string

// The faults.
const (
	NotFound  Fault = "404"
	Gone      Fault = "410"
	Forbidden Fault = "403"       // except for requests through the web's proxy
	Limited   Fault = "429"       // every other hour, with Retry-After
	Broken    Fault = "5xx"       // every other hour; a 503 has Retry-After
	Slow      Fault = "slow"      // the document takes [slowFor]
	Hang      Fault = "hang"      // no response
	Reset     Fault = "reset"     // the connection is reset within the document
	Truncated Fault = "truncated" // the connection is closed within the document
	Bomb      Fault = "bomb"      // 1 MB that decompresses to 1 GB
	Redirect  Fault = "redirect"  // temporary redirect of the document
	Moved     Fault = "moved"     // permanent redirect of the document
)

var allFaults = []Fault{NotFound, Gone, Forbidden, Limited, Broken, Slow, Hang, Reset, Truncated, Bomb, Redirect, Moved}

// moves reports whether the feed redirects to its document.
func (f Fault) moves() bool { return f == Redirect || f == Moved }

// Faults maps faults to the share of feeds that have them.
type Faults map[Fault]float64

// UnmarshalText parses shares as in "404=0.01,hang=0.001".
func (f *Faults) UnmarshalText(text []byte) error {
	*f = Faults{}
	sum := 0.0
	for part := range strings.SplitSeq(string(text), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		share, err := strconv.ParseFloat(value, 64)
		switch {
		case !slices.Contains(allFaults, Fault(name)):
			return fmt.Errorf("%q is no fault; there are %v", name, allFaults)
		case err != nil || !(share >= 0 && share <= 1):
			return fmt.Errorf("%s: %q is no share from 0 to 1; write it as %s=0.01", name, value, name)
		}
		(*f)[Fault(name)] = share
	}
	for _, share := range *f {
		sum += share
	}
	if sum > 1 {
		return fmt.Errorf("the shares add up to %.3g, and should not to more than 1", sum)
	}
	return nil
}

// of returns the fault for a random number from 0 to 1; "" if none.
func (f Faults) of(drawn float64) Fault {
	for _, fault := range slices.Sorted(maps.Keys(f)) {
		if drawn -= f[fault]; drawn < 0 {
			return fault
		}
	}
	return ""
}

// alternation is the length of the periods in which an alternating feed refuses or serves.
const alternation = time.Hour

// refusedUntil returns the end of the current refusing period of an alternating feed; zero while it serves.
func (p publisher) refusedUntil(now time.Time) time.Time {
	since := now.Add(-time.Duration(draw(p.seed, 103)%uint64(2*alternation))).Sub(origin) % (2 * alternation)
	if since >= alternation {
		return time.Time{}
	}
	return now.Add(alternation - since)
}

// brokenStatus returns the status of a broken feed.
func (p publisher) brokenStatus() int {
	all := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return all[draw(p.seed, 104)%uint64(len(all))]
}

// retryAfter returns a Retry-After header, and the time at the header's precision: half of the feeds send
// seconds, half a date.
func (p publisher) retryAfter(until, now time.Time) (string, time.Time) {
	seconds := math.Ceil(until.Sub(now).Seconds())
	if draw(p.seed, 105)%2 == 0 {
		return strconv.Itoa(int(seconds)), now.Add(time.Duration(seconds) * time.Second)
	}
	until = until.Truncate(time.Second).Add(time.Second)
	return until.UTC().Format(http.TimeFormat), until
}

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

// A Fault is what may be wrong with a feed of a [Web] all the time.
type Fault string

// The faults there are.
const (
	NotFound  Fault = "404"
	Gone      Fault = "410"
	Forbidden Fault = "403"       // unless the request comes through the web's proxy
	Limited   Fault = "429"       // every other hour; says in Retry-After until when
	Broken    Fault = "5xx"       // every other hour; a 503 says until when
	Slow      Fault = "slow"      // the document takes [slowFor]
	Hang      Fault = "hang"      // there is no answer
	Reset     Fault = "reset"     // the connection is reset amid the document
	Truncated Fault = "truncated" // the connection ends amid the document
	Bomb      Fault = "bomb"      // 1 MB that unpacks to 1 GB
	Redirect  Fault = "redirect"  // the document is elsewhere, for now
	Moved     Fault = "moved"     // the document is elsewhere, for good
)

var allFaults = []Fault{NotFound, Gone, Forbidden, Limited, Broken, Slow, Hang, Reset, Truncated, Bomb, Redirect, Moved}

// moves reports whether the feed's document is at another address.
func (f Fault) moves() bool { return f == Redirect || f == Moved }

// Faults says what share of all feeds has a fault, by fault.
type Faults map[Fault]float64

// UnmarshalText reads shares as in "404=0.01,hang=0.001".
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

// of returns the fault of the feed that drew this number from 0 to 1; "" if none.
func (f Faults) of(drawn float64) Fault {
	for _, fault := range slices.Sorted(maps.Keys(f)) {
		if drawn -= f[fault]; drawn < 0 {
			return fault
		}
	}
	return ""
}

// bout is how long a host that refuses and serves in turn does each.
const bout = time.Hour

// refusedUntil returns until when a feed that is refused in turn is so, or zero if
// it is served.
func (p publisher) refusedUntil(now time.Time) time.Time {
	since := now.Add(-time.Duration(draw(p.seed, 103)%uint64(2*bout))).Sub(origin) % (2 * bout)
	if since >= bout {
		return time.Time{}
	}
	return now.Add(bout - since)
}

// brokenStatus returns what a feed answers that is broken.
func (p publisher) brokenStatus() int {
	all := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return all[draw(p.seed, 104)%uint64(len(all))]
}

// retryAfter returns the header that tells of a time, and the time as the header
// tells it: half of the feeds say it in seconds, half as a date.
func (p publisher) retryAfter(until, now time.Time) (string, time.Time) {
	seconds := math.Ceil(until.Sub(now).Seconds())
	if draw(p.seed, 105)%2 == 0 {
		return strconv.Itoa(int(seconds)), now.Add(time.Duration(seconds) * time.Second)
	}
	until = until.Truncate(time.Second).Add(time.Second)
	return until.UTC().Format(http.TimeFormat), until
}

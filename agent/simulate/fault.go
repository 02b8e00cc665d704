package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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

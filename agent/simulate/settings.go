package simulate

import (
	"errors"
	"fmt"
	"time"
)

// Settings configure a [Web].
type Settings struct {
	Feeds  int
	Hosts  int           // over which the feeds are distributed
	Seed   uint64        // of all random properties: the same seed gives the same feeds
	Rate   float64       // mean rate of a feed, items a day
	Window int           // maximum number of entries in each document; 0: from 10 to 50, different for each feed
	Zone   time.Duration // offset of the time of the English feeds' working days from UTC; the Russian ones' is 3 hours ahead
	Faults Faults
	Now    func() time.Time // returns the time, as [Clock.Now] does; nil: the system time
	Log    string           // file to which a line for each request is appended; "" disables it
}

const (
	maxFeeds = 1_000_000
	maxHosts = 62_500 // from 127.1.0.1 to 127.1.249.250
	maxRate  = 50
)

// Validate returns all errors of the settings together.
func (s Settings) Validate() error {
	var faults []error
	if s.Feeds < 1 || s.Feeds > maxFeeds {
		faults = append(faults, fmt.Errorf("feeds: %d is not between 1 and %d", s.Feeds, maxFeeds))
	}
	if s.Hosts < 1 || s.Hosts > maxHosts {
		faults = append(faults, fmt.Errorf("hosts: %d is not between 1 and %d", s.Hosts, maxHosts))
	}
	if !(s.Rate > 0 && s.Rate <= maxRate) {
		faults = append(faults, fmt.Errorf("rate: %v is not between 0 and %v items a day", s.Rate, maxRate))
	}
	return errors.Join(faults...)
}

package deliver

import (
	"math/rand/v2"
	"time"
)

// retryAfter are the times from an attempt for a message to the next: 24 hours in all.
var retryAfter = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour,
}

// waitAfter are the times after that many failures of a receiver in a row, for which it gets nothing. They are short, so that
// a receiver that works again gets what waits soon.
var waitAfter = []time.Duration{
	time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
}

// maxFailing is how long a receiver may fail before its subscription is turned off.
const maxFailing = 5 * 24 * time.Hour

// stepOf returns the value of a table for the n-th failure from 1, the last for those after it, with up to a tenth more at
// random, so that receivers that failed together are not tried together.
func stepOf(table []time.Duration, n int) time.Duration {
	d := table[min(max(n, 1), len(table))-1]
	return d + rand.N(d/10+1)
}

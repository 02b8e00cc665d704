package role

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/subjects"
)

// reportEvery is how long what a crawl task saw of a feed may wait for what it
// sees of others: many go in one message then, and a host whose next feed waits
// for this word waits hardly longer.
const reportEvery = 200 * time.Millisecond

// A report tells the schedule what a crawl task sees while the task goes on, so
// that the feeds of quick hosts do not wait for those of slow ones. Its methods
// may be called concurrently.
type report struct {
	out  subjects.Publisher
	task string

	mu   sync.Mutex
	seen []subjects.Observation
}

// add takes an observation, to be sent soon.
func (r *report) add(o subjects.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, o)
}

// send publishes what was seen since it was called last.
func (r *report) send(ctx context.Context) error {
	r.mu.Lock()
	seen := r.seen
	r.seen = nil
	r.mu.Unlock()
	if len(seen) == 0 {
		return nil
	}
	return subjects.Publish(ctx, r.out, subjects.Observes, subjects.Observe{
		From: "crawl/" + r.task + "/" + feedsHash(seen), Observations: seen,
	})
}

// feedsHash tells the parts of a task apart. A second attempt at it may cut it in
// other parts, which must not be taken for those of the first.
func feedsHash(seen []subjects.Observation) string {
	ids := make([]string, len(seen))
	for i, o := range seen {
		ids[i] = o.FeedID
	}
	slices.Sort(ids)
	sum := sha256.Sum256([]byte(strings.Join(ids, " ")))
	return hex.EncodeToString(sum[:8])
}

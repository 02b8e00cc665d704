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
const reportEvery = 100 * time.Millisecond

// reportBytes is how many bytes of documents wait at most: more go at once.
const reportBytes = 1 << 20

// A report hands on what a crawl task fetches, and tells the schedule what it
// sees, while the task goes on, so that the feeds of quick hosts do not wait for
// those of slow ones. Its methods may be called concurrently.
type report struct {
	out  subjects.Publisher
	task string

	mu        sync.Mutex
	seen      []subjects.Observation
	documents []subjects.Message
	size      int // of documents, in bytes
}

// hand takes a document, to be sent soon, and before what is added after it.
func (r *report) hand(ctx context.Context, document subjects.Parse) error {
	m, err := subjects.Parses.Message(document, r.out.Schema(ctx))
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.documents, r.size = append(r.documents, m), r.size+len(m.Data)
	full := r.size > reportBytes
	r.mu.Unlock()
	if full {
		return r.send(ctx)
	}
	return nil
}

// add takes an observation, to be sent soon.
func (r *report) add(o subjects.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, o)
}

// send publishes what there is since it was called last.
func (r *report) send(ctx context.Context) error {
	r.mu.Lock()
	seen, documents := r.seen, r.documents
	r.seen, r.documents, r.size = nil, nil, 0
	r.mu.Unlock()
	if len(documents) > 0 {
		if err := r.out.Publish(ctx, documents...); err != nil {
			return err
		}
	}
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

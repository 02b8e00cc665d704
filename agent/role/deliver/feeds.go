package deliver

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/classify/query"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	feedsAge     = time.Minute      // age at which the feeds that fail are read again
	feedPause    = 10 * time.Minute // from a message about feeds that fail to the next, so that an outage is a few messages
	feedBatch    = 1000             // size of a batch of feeds that are read
	maxFeedLines = 10               // feeds that a message lists
	maxFeedName  = 100              // characters
	maxFeedError = 200              // characters
)

// A failingFeed is a feed whose last poll failed, as [subjects.State.IsFailing] defines it for the console and the metrics too.
type failingFeed struct {
	id, name, problem string
	since             time.Time // of the first poll that failed
	tags, hosts       []string
}

// key identifies a period in which the feed fails. Keys are ordered by time.
func (f *failingFeed) key() string { return f.since.UTC().Format(feedKeyTime) + " " + f.id }

const feedKeyTime = "2006-01-02T15:04:05.000000Z"

// A feedCache caches the feeds that fail, ordered by since and ID, for all workers. It reads the states of all feeds and the records of those that fail at most once
// a minute, or in a twentieth of the time, in batches, for all subscriptions of the process together. It may be used concurrently.
type feedCache struct {
	store  storage.Store
	states func(ctx context.Context, each func(subjects.FeedState)) error

	mu      sync.Mutex
	read    time.Time
	keep    time.Duration
	failing []failingFeed
	err     error // of the last reading, cached too: other workers do not retry at once
}

// get returns the feeds that fail. The slice must not be changed.
func (c *feedCache) get(ctx context.Context, now time.Time) ([]failingFeed, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := now.Sub(c.read); age >= 0 && age < c.keep { // one read in the future was read while the clock was ahead
		return c.failing, c.err
	}
	began := time.Now()
	failing, err := c.load(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.failing, c.err, c.read, c.keep = failing, err, now, max(feedsAge, 20*time.Since(began))
	if err != nil {
		c.keep = errorTime
	}
	return c.failing, c.err
}

func (c *feedCache) load(ctx context.Context) (failing []failingFeed, err error) {
	err = c.states(ctx, func(f subjects.FeedState) {
		if f.State.IsFailing() {
			failing = append(failing, failingFeed{
				id: f.FeedID, since: f.State.FailingSince, problem: text.Excerpt(withoutSecrets(cmp.Or(f.State.Error, f.State.Class, "the last poll failed")), maxFeedError),
			})
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read the states of feeds: %w", err)
	}
	for batch := range slices.Chunk(failing, feedBatch) {
		if err := c.describe(ctx, batch); err != nil {
			return nil, err
		}
	}
	failing = slices.DeleteFunc(failing, func(f failingFeed) bool { return f.name == "" }) // it was removed from the store
	slices.SortFunc(failing, func(a, b failingFeed) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id)) })
	return failing, nil
}

// describe sets what the store has of feeds. Names have no passwords, unlike addresses.
func (c *feedCache) describe(ctx context.Context, feeds []failingFeed) error {
	ids := make([]string, len(feeds))
	for i, f := range feeds {
		ids[i] = f.id
	}
	stored, err := c.store.FindFeeds(ctx, storage.FeedQuery{IDs: ids, Limit: len(ids)})
	if err != nil {
		return fmt.Errorf("read the feeds that fail: %w", err)
	}
	byID := make(map[string]storage.Feed, len(stored))
	for _, f := range stored {
		byID[f.ID] = f
	}
	for i := range feeds {
		if f, is := byID[feeds[i].id]; is {
			feeds[i].name = text.Excerpt(cmp.Or(f.Name(), "a feed without a name"), maxFeedName)
			feeds[i].tags, feeds[i].hosts = f.Tags, append(query.Hosts(f.URL), query.Hosts(f.Site)...)
		}
	}
	return nil
}

var isURL = regexp.MustCompile(`[a-zA-Z]+://[^\s"'<>]+`)

// withoutSecrets returns a text in which URLs have neither user, password nor query, which may contain keys.
func withoutSecrets(problem string) string {
	return isURL.ReplaceAllStringFunc(problem, func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			return "…"
		}
		u.User, u.Fragment = nil, ""
		if u.RawQuery != "" {
			u.RawQuery = "…"
		}
		return u.String()
	})
}

// feedsFail evaluates "feed fails": feeds of the views that began to fail since the subscription was added, and of which no message was sent yet in this
// period. A state of an older version without a time counts as one that began before.
//
// The keys of the last 1,000 periods are stored. When there were as many, a feed that fails for longer than the oldest of them counts as one that was
// in a message: in an outage, more feeds may fail than keys are stored.
func (r *run) feedsFail(ctx context.Context) ([]occurrence, int64, error) {
	failing, err := r.feeds.get(ctx, r.clock.Now())
	if err != nil {
		return nil, 0, err
	}
	from := r.Created
	if known := r.knownFailing(); known.After(from) {
		from = known.Add(time.Microsecond)
	}
	first, _ := slices.BinarySearchFunc(failing, from, func(f failingFeed, from time.Time) int { return f.since.Compare(from) })
	var begun []*failingFeed
	for i := first; i < len(failing); i++ {
		f := &failing[i]
		if r.isPast() && f.since.After(r.at) {
			break
		}
		if _, is := slices.BinarySearch(r.state.Alerted, f.key()); !is {
			begun = append(begun, f)
		}
	}
	if len(begun) == 0 {
		return nil, 0, nil
	}
	reads, err := r.views.sources(ctx, r.Views)
	if err != nil {
		return nil, 0, err
	}
	begun = slices.DeleteFunc(begun, func(f *failingFeed) bool { return !reads.has(f) })
	if len(begun) == 0 {
		return nil, 0, nil
	}
	return []occurrence{failureOf(begun)}, 0, nil
}

// knownFailing returns the time until which feeds that began to fail were in a message; zero: each has a key. A time in the future is that of a wrong
// clock.
func (r *run) knownFailing() time.Time {
	if len(r.state.Alerted) < maxAlerted {
		return time.Time{}
	}
	text, _, _ := strings.Cut(r.state.Alerted[0], " ")
	known, err := time.Parse(feedKeyTime, text)
	if err != nil || known.After(r.clock.Now()) {
		return time.Time{}
	}
	return known
}

// failureOf returns the message about feeds that began to fail.
func failureOf(feeds []*failingFeed) occurrence {
	o := occurrence{key: feeds[0].key(), text: "feed " + feeds[0].name + " fails"}
	if len(feeds) > 1 {
		o.text = fmt.Sprintf("%d feeds fail", len(feeds))
	}
	for _, f := range feeds[:min(len(feeds), maxFeedLines)] {
		o.lines = append(o.lines, f.name+": "+f.problem)
	}
	o.more = len(feeds) - len(o.lines)
	for _, f := range feeds[max(1, len(feeds)-maxAlerted):] {
		o.others = append(o.others, f.key())
	}
	return o
}

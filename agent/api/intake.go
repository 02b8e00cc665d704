package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/agent/opml"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// What became of an address that was to be added.
const (
	Added   = "added"
	Known   = "known"   // it was in the store, or came twice
	Invalid = "invalid" // see Reason
	Waiting = "waiting" // its turn has not come
)

// An Intake says what became of one address.
type Intake struct {
	Line    int    `json:"line,omitempty" doc:"Where it stands in the file it came from."`
	URL     string `json:"url"`
	FeedID  string `json:"feed_id,omitempty"`
	Outcome string `json:"outcome" enum:"added,known,invalid,waiting"`
	Reason  string `json:"reason,omitempty" doc:"Why it is invalid."`
}

// read returns an address of a list as it is before anything came of it: known,
// if it is one.
func read(f opml.Feed) (intake Intake, url string) {
	intake = Intake{Line: f.Line, URL: f.URL, Outcome: Invalid}
	url, err := storage.CanonicalURL(f.URL)
	if err != nil {
		intake.Reason = err.Error()
		return intake, ""
	}
	intake.FeedID, intake.Outcome = storage.FeedID(url), Known
	return intake, url
}

// intakeSize is how many feeds are stored and announced at once.
const intakeSize = 1000

// TakeIn adds feeds to the store and has the schedule know of them. It returns
// what became of each, in order. Taking in a list twice adds nothing the second
// time, and makes good what the first has not lived to do. After an error, those
// before it are in.
func TakeIn(ctx context.Context, to storage.Feeds, out subjects.Publisher, feeds []opml.Feed, now time.Time) ([]Intake, error) {
	t := taker{to: to, out: out, at: now, seen: map[string]bool{}, retells: true}
	results := make([]Intake, 0, len(feeds))
	for chunk := range slices.Chunk(feeds, intakeSize) {
		taken, err := t.take(ctx, chunk)
		if err != nil {
			return nil, err
		}
		results = append(results, taken...)
	}
	return results, nil
}

// A taker takes in the feeds of one list, chunk by chunk.
type taker struct {
	to   storage.Feeds
	out  subjects.Publisher
	at   time.Time       // when the feeds count as added
	seen map[string]bool // IDs of those before

	// again says that the next chunk may have been taken in before, by a process
	// that did not live to say so: what it added then, it has added now.
	again bool

	// retells has the schedule know of known feeds too: who added them may be the one
	// who asks once more, as the process did not live to say so. An import goes on by
	// itself.
	retells bool
}

// take takes in at most [intakeSize] feeds.
func (t *taker) take(ctx context.Context, feeds []opml.Feed) ([]Intake, error) {
	results := make([]Intake, len(feeds))
	var fresh []storage.Feed
	urls, at := map[string]string{}, map[string]int{} // of the fresh ones, by ID: canonical, and where in results
	for i, f := range feeds {
		var url string
		results[i], url = read(f)
		id := results[i].FeedID
		if id == "" || t.seen[id] {
			continue
		}
		t.seen[id], urls[id], at[id] = true, url, i
		fresh = append(fresh, storage.Feed{ID: id, URL: url, Title: f.Title, Site: f.Site, Tags: f.Tags, Added: t.at})
	}
	ids, err := t.to.AddFeeds(ctx, fresh...)
	if err != nil {
		return nil, fmt.Errorf("add %d feeds: %w", len(fresh), err)
	}
	if t.again { // the moment at which they were added tells those of this list
		if ids, err = t.stored(ctx, fresh, func(f storage.Feed) bool { return f.Added.Equal(t.at) }); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		results[at[id]].Outcome = Added
	}
	if t.retells {
		known := slices.DeleteFunc(fresh, func(f storage.Feed) bool { return results[at[f.ID]].Outcome == Added })
		others, err := t.stored(ctx, known, func(storage.Feed) bool { return true })
		if err != nil {
			return nil, err
		}
		ids = append(ids, others...)
	}
	var news []subjects.Observation
	for _, id := range ids {
		news = append(news, observation(id, urls[id], subjects.Added))
	}
	if len(news) > 0 {
		if err := tellSchedule(ctx, t.out, news...); err != nil {
			return nil, err
		}
	}
	t.again = false
	return results, nil
}

// stored returns the IDs of those of the feeds that the store has as is wants.
func (t *taker) stored(ctx context.Context, feeds []storage.Feed, is func(storage.Feed) bool) ([]string, error) {
	var ids []string
	for _, f := range feeds {
		stored, err := t.to.Feed(ctx, f.ID)
		switch {
		case errors.Is(err, storage.ErrNotFound): // known under the URL it moved to
		case err != nil:
			return nil, fmt.Errorf("feed %s: %w", f.ID, err)
		case is(stored):
			ids = append(ids, f.ID)
		}
	}
	return ids, nil
}

// tellSchedule gives the schedule observations that come from a person.
func tellSchedule(ctx context.Context, out subjects.Publisher, o ...subjects.Observation) error {
	return subjects.Publish(ctx, out, subjects.Observes, subjects.Observe{From: "api/" + nuid.Next(), Observations: o})
}

func observation(feedID, url string, outcome subjects.Outcome) subjects.Observation {
	return subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID}, URL: url, Outcome: outcome}
}

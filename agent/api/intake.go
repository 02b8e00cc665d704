package api

import (
	"context"
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
)

// An Intake says what became of one address.
type Intake struct {
	Line    int    `json:"line,omitempty" doc:"Where it stands in the file it came from."`
	URL     string `json:"url"`
	FeedID  string `json:"feed_id,omitempty"`
	Outcome string `json:"outcome" enum:"added,known,invalid"`
	Reason  string `json:"reason,omitempty" doc:"Why it is invalid."`
}

// intakeSize is how many feeds are stored and announced at once.
const intakeSize = 1000

// TakeIn adds feeds to the store and has the schedule know of them. It returns
// what became of each, in order. Taking in a list twice adds nothing the second
// time. After an error, those before it are in.
func TakeIn(ctx context.Context, to storage.Feeds, out subjects.Publisher, feeds []opml.Feed, now time.Time) ([]Intake, error) {
	results := make([]Intake, len(feeds))
	var sound []storage.Feed
	seen := map[string]bool{}
	for i, f := range feeds {
		url, err := storage.CanonicalURL(f.URL)
		results[i] = Intake{Line: f.Line, URL: f.URL, Outcome: Invalid}
		if err != nil {
			results[i].Reason = err.Error()
			continue
		}
		results[i].FeedID, results[i].Outcome = storage.FeedID(url), Known
		if seen[results[i].FeedID] {
			continue
		}
		seen[results[i].FeedID] = true
		sound = append(sound, storage.Feed{
			ID: results[i].FeedID, URL: url, Title: f.Title, Site: f.Site, Tags: f.Tags, Added: now,
		})
	}
	added := map[string]bool{}
	for chunk := range slices.Chunk(sound, intakeSize) {
		ids, err := to.AddFeeds(ctx, chunk...)
		if err != nil {
			return nil, fmt.Errorf("add %d feeds: %w", len(chunk), err)
		}
		for _, id := range ids {
			added[id] = true
		}
		if err := announce(ctx, out, chunk, added); err != nil {
			return nil, err
		}
	}
	for i := range results {
		if id := results[i].FeedID; added[id] {
			results[i].Outcome = Added
			delete(added, id) // the second line of the same feed finds it known
		}
	}
	return results, nil
}

// announce tells the schedule of the feeds that were added.
func announce(ctx context.Context, out subjects.Publisher, feeds []storage.Feed, added map[string]bool) error {
	var news []subjects.Observation
	for _, f := range feeds {
		if added[f.ID] {
			news = append(news, observation(f.ID, f.URL, subjects.Added))
		}
	}
	if len(news) == 0 {
		return nil
	}
	return tell(ctx, out, news...)
}

// tell gives the schedule observations that come from a person.
func tell(ctx context.Context, out subjects.Publisher, o ...subjects.Observation) error {
	return subjects.Publish(ctx, out, subjects.Observes, subjects.Observe{From: "api/" + nuid.Next(), Observations: o})
}

func observation(feedID, url string, outcome subjects.Outcome) subjects.Observation {
	return subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID}, URL: url, Outcome: outcome}
}

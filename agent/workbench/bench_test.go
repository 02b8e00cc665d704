package workbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"feedmesh/classify"
	"feedmesh/classify/rule"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)

// ruled returns a decider without a model.
type ruled struct {
	set   *rule.Set
	rules *classify.Rules
}

func rulesOf(t *testing.T, text string) ruled {
	t.Helper()
	set, err := rule.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := classify.Compile(set)
	if err != nil {
		t.Fatal(err)
	}
	return ruled{set, rules}
}

func (r ruled) Decide(d classify.Document) classify.Decision {
	out := r.rules.Evaluate(d)
	decision := classify.Decision{Spam: out.Quarantine, Score: out.Score, Notify: out.Notify, Matched: out.Matched}
	for _, l := range out.Labels {
		switch {
		case l.Points < classify.Threshold:
			continue
		case l.Topic:
			decision.Topics = append(decision.Topics, l.Name)
		default:
			decision.Categories = append(decision.Categories, l.Name)
		}
		decision.Reasons = append(decision.Reasons, l.Name+" by "+l.Matches[0].Rule)
	}
	return decision
}

// An outbox records published messages.
type outbox struct {
	mu   sync.Mutex
	ids  []string // of items queued to be indexed
	full error
}

func (o *outbox) Publish(_ context.Context, msgs ...subjects.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := errors.Join(o.full, subjects.Encode(msgs)); err != nil {
		return err
	}
	for _, m := range msgs {
		task, err := subjects.IndexQueue.Decode(m.Data)
		if err != nil {
			return err
		}
		o.ids = append(o.ids, task.IDs...)
	}
	return nil
}

// indexed returns the distinct items queued to be indexed since its last call, in order.
func (o *outbox) indexed() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	ids := o.ids
	o.ids = nil
	slices.Sort(ids)
	return slices.Compact(ids)
}

const feedURL = "https://feeds.example/a.xml"

// titles are the titles of a bench's items, in rotation.
var titles = []string{"Kubernetes in production", "Casino bonus", "PostgreSQL on Kubernetes", "A walk in the park"}

// A bench is a store and a runner, with rules by version.
type bench struct {
	store  storage.Store
	out    *outbox
	runner *Runner
	texts  map[int64]Decider
	feed   string
}

// newBench returns a bench with n items; each day has twice the items of the previous day.
func newBench(t *testing.T, items int) *bench {
	t.Helper()
	b := &bench{store: enginetest.Store(t), out: &outbox{}, texts: map[int64]Decider{}, feed: storage.FeedID(feedURL)}
	if _, err := b.store.AddFeeds(t.Context(), storage.Feed{ID: b.feed, URL: feedURL, Title: "A feed", Tags: []string{"it"}, Added: now}); err != nil {
		t.Fatal(err)
	}
	batch := storage.Batch{FeedID: b.feed}
	for i := range items {
		it := b.item(i)
		it.FirstSeen = now.AddDate(0, 0, -min(3, i*8/items/2))
		batch.Items = append(batch.Items, it)
	}
	if _, err := b.store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	b.runner = &Runner{
		Store: b.store, Out: b.out, Now: func() time.Time { return now },
		InForce: func() Decider { return b.texts[0] },
		Decider: func(_ context.Context, set string, version int64) (Decider, error) {
			by := b.texts[version]
			if set != "classify" || by == nil {
				return nil, fmt.Errorf("there is no version %d of %s: %w", version, set, ErrPermanent)
			}
			return by, nil
		},
	}
	b.texts[0] = rulesOf(t, "# none")
	return b
}

// item returns an item in its initial state.
func (b *bench) item(i int) storage.Item {
	key := fmt.Sprint(i)
	return storage.Item{
		ID: storage.ItemID(b.feed, key), FeedID: b.feed, Key: key, Hash: "1", Language: "en", FirstSeen: now, Published: now,
		Title: titles[i%len(titles)], HTML: "<p>Some words about it.</p>",
	}
}

// begin starts a relabel of all items.
func (b *bench) begin(t *testing.T, version int64, at time.Time) storage.Job {
	t.Helper()
	job, err := StartRelabel(t.Context(), b.store, "classify", version, nil, at)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// run runs all jobs, and returns the one with the given ID.
func (b *bench) run(t *testing.T, id string) storage.Job {
	t.Helper()
	if err := b.runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b.job(t, id)
}

func (b *bench) job(t *testing.T, id string) storage.Job {
	t.Helper()
	job, err := storage.Jobs(b.store).Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// labelled returns the number of items with each label.
func (b *bench) labelled(t *testing.T) map[string]int {
	t.Helper()
	count := map[string]int{}
	err := scan(t.Context(), b.store, place{}, 100, func(items []storage.Item, _ place) error {
		for _, it := range items {
			for _, c := range slices.Concat(it.Categories, it.Topics) {
				count[c]++
			}
			if it.Spam {
				count["spam"]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

var errAway = errors.New("the engine is away")

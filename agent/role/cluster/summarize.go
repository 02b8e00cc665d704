package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/role/work"
	"feedmesh/classify/story"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// summarizeEvery is the interval of rounds while items are stored. Each summary of a growing story reads the story's items
	// again. So a story that was just summarized is delayed before the next summary: twice as long each time
	// while it keeps growing, and longer the larger it is, because one more item changes it less. A summary
	// is at most maxDelay old, and new stories are summarized in the next round.
	summarizeEvery = 5 * time.Second
	delayPerItem   = 20 * time.Millisecond // for each item of a story
	maxDelay       = 30 * time.Second

	// dirtyBatch is the number of dirty marks read in a batch, besides those of delayed stories, of which at
	// most maxDelayed are kept.
	dirtyBatch = 500
	maxDelayed = 20_000

	// storiesPerRead is the number of stories read in a batch, with up to [placement.MaxItems] items of a
	// kilobyte each.
	storiesPerRead = 20

	// updateWeightsEvery is the interval at which the weights of sources are recomputed, from the items of
	// reachPeriod that other sources repeated.
	updateWeightsEvery = 6 * time.Hour
	reachPeriod        = 30 * 24 * time.Hour
)

// storySummarizer recomputes the summary of every story that the store has marked dirty.
type storySummarizer struct {
	store storage.Store
	out   subjects.Publisher
	clock work.Clock
	log   *slog.Logger
	fence storage.Fence

	delays  map[string]summaryDelay // of recently summarized stories, by ID
	delayed int                     // dirty marks of delayed stories

	weights        map[string]float64 // by feed ID, where not 1
	weightsUpdated time.Time
	bursts         *bursts
}

func newStorySummarizer(env *work.Env) *storySummarizer {
	return &storySummarizer{store: env.Store, out: env.Mesh, clock: env.Clock, log: env.Log, bursts: newBursts(env.Store, env.Mesh)}
}

func (t *storySummarizer) run(ctx context.Context) error {
	var err error
	if t.fence, err = t.store.NextFence(ctx, "stories"); err != nil {
		return fmt.Errorf("take over story summaries: %w", err)
	}
	t.bursts.fence = t.fence
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return t.bursts.run(ctx, t.clock, t.log) })
	group.Go(func() error {
		return work.Poll(ctx, t.store, summarizeEvery, nil, func(ctx context.Context) (more bool, err error) {
			return t.summarizeAll(context.WithoutCancel(ctx)) // a started round is completed
		})
	})
	return group.Wait()
}

// A summaryDelay is a time before the next summary of a story.
type summaryDelay struct {
	from   time.Time
	length time.Duration
}

// lasts reports whether the delay lasts at the given time.
func (d summaryDelay) lasts(now time.Time) bool { return now.Before(d.from.Add(d.length)) }

// expired reports whether a story stayed clean for as long again after its delay, so that its next summary
// counts as the first. A delay that starts in the future, because the clock was ahead, is expired too.
func (d summaryDelay) expired(now time.Time) bool {
	return now.Before(d.from) || now.After(d.from.Add(2*(d.length+summarizeEvery)))
}

// summarizeAll summarizes all dirty stories and reports whether some are left: delayed ones, and failed ones, which are retried in the
// next round. A fenced summarizer returns the error.
func (t *storySummarizer) summarizeAll(ctx context.Context) (left bool, err error) {
	for {
		more, err := t.summarizeBatch(ctx)
		switch {
		case errors.Is(err, storage.ErrFenced):
			return false, err
		case err != nil:
			t.log.Warn("story summaries failed", "err", err)
			return true, nil
		case !more:
			return t.delayed > 0, nil
		}
	}
}

// summarizeBatch summarizes the stories with the oldest dirty marks. It reports whether more marks may exist.
func (t *storySummarizer) summarizeBatch(ctx context.Context) (more bool, err error) {
	if err := t.updateWeights(ctx); err != nil {
		return false, err
	}
	limit := dirtyBatch + t.delayed
	dirty, err := t.store.DirtyStories(ctx, limit)
	if err != nil {
		return false, err
	}
	due, done := t.due(dirty)
	if due = append(t.bursts.changedStories(), due...); len(due) == 0 && len(done) == 0 {
		return len(dirty) == limit, nil
	}
	updates, removed, err := t.summaries(ctx, due)
	if err != nil {
		return false, err
	}
	var stories []storage.Story
	var news []subjects.Message
	for _, now := range updates {
		stories, news = append(stories, now.Story), append(news, newsOf(now.old, now.Story)...)
	}
	// Events before the write: the retry of a failed write repeats them, but none is lost.
	if err := t.out.Publish(ctx, news...); err != nil {
		return false, err
	}
	if err := t.store.PutStories(ctx, t.fence, done, stories, removed); err != nil {
		return false, err
	}
	t.delay(stories)
	return len(dirty) == limit, t.reindex(ctx, updates)
}

// A storyUpdate is a new summary of a story.
type storyUpdate struct {
	storage.Story
	old   storage.Story // the previous summary, or the zero Story
	items []string      // IDs of its items if they must be indexed again
}

// summaries returns the new summaries of stories, each once, and the IDs of stories without a summary.
func (t *storySummarizer) summaries(ctx context.Context, ids []string) (updates []storyUpdate, removed []string, err error) {
	seen := map[string]bool{}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		duplicate := seen[id]
		seen[id] = true
		return duplicate
	})
	old, err := t.store.StoriesByID(ctx, ids...)
	if err != nil {
		return nil, nil, err
	}
	for some := range slices.Chunk(ids, storiesPerRead) {
		made, err := t.store.ReadStories(ctx, placement.MaxItems, some...)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range some {
			if now, ok := t.summarize(id, made[id], old[id]); ok {
				updates = append(updates, now)
			} else {
				removed = append(removed, id)
			}
		}
	}
	return updates, removed, nil
}

// summarize returns the new summary of a story, if it has one.
func (t *storySummarizer) summarize(id string, of storage.StoryItems, old storage.Story) (storyUpdate, bool) {
	s, ok := placement.Summarize(id, of, t.weight, t.bursts.isBursting(id), t.clock.Now())
	now := storyUpdate{Story: s, old: old}
	if ok && coverageDoubled(old, s) {
		for _, item := range of.Items {
			now.items = append(now.items, item.ID)
		}
	}
	return now, ok
}

// coverageDoubled reports whether a story has twice as many publishers as when its items were last indexed:
// 2, 4, 8 and so on. So an item is indexed again at most log2(publishers) times.
func coverageDoubled(old, s storage.Story) bool {
	return storage.Coverage(s.Sources) > storage.Coverage(old.Sources)
}

// reindex publishes the items of stories whose coverage doubled to the index, which ranks by it. It runs
// after the summaries are stored, because the index reads them there; an update lost in between is repaired
// when the coverage doubles again.
func (t *storySummarizer) reindex(ctx context.Context, updates []storyUpdate) error {
	for _, s := range updates {
		if len(s.items) == 0 {
			continue
		}
		if err := subjects.PublishStory(ctx, t.out, s.Sources, s.items); err != nil {
			return err
		}
	}
	return nil
}

// due returns the story IDs of all marks that are not delayed, and the marks to delete after their summary.
// Of a delayed story it deletes all marks but one, which is enough to summarize it after the delay.
func (t *storySummarizer) due(dirty []storage.DirtyStory) (ids []string, done []storage.DirtyStory) {
	now := t.clock.Now()
	if len(dirty) > maxDelayed {
		t.delays = nil
	}
	maps.DeleteFunc(t.delays, func(_ string, d summaryDelay) bool { return d.expired(now) })
	waits := map[string]bool{}
	for _, mark := range dirty {
		switch {
		case !t.delays[mark.StoryID].lasts(now):
			ids, done = append(ids, mark.StoryID), append(done, mark)
		case waits[mark.StoryID]:
			done = append(done, mark)
		default:
			waits[mark.StoryID] = true
		}
	}
	t.delayed = len(waits)
	return ids, done
}

// delay starts the delay of summarized stories, except small stories without a recent summary.
func (t *storySummarizer) delay(summaries []storage.Story) {
	now := t.clock.Now()
	if t.delays == nil {
		t.delays = map[string]summaryDelay{}
	}
	for _, s := range summaries {
		if len(t.delays) >= maxDelayed {
			return
		}
		last, d := t.delays[s.ID], time.Duration(s.Items)*delayPerItem
		if !last.from.IsZero() {
			d = max(d, 2*max(last.length, summarizeEvery))
		}
		if d = min(d, maxDelay); d <= summarizeEvery {
			d = 0
		}
		t.delays[s.ID] = summaryDelay{from: now, length: d}
	}
}

// newsOf returns the event for a story that is new or has more publishers than old, or none. old is the zero
// Story if it had no summary.
func newsOf(old, s storage.Story) []subjects.Message {
	event := subjects.Event{Kind: subjects.StoryGrew, At: s.LastSeen, StoryID: s.ID, ItemID: s.Headline, Title: s.Title, Sources: s.Sources}
	switch {
	case old.ID == "":
		event.Kind = subjects.StoryNew
	case s.Sources <= old.Sources:
		return nil
	}
	event.Text = fmt.Sprintf("%d items of %d publishers", s.Items, s.Sources)
	return []subjects.Message{event.Message()}
}

// weight returns the weight of a feed.
func (t *storySummarizer) weight(feedID string) float64 {
	if w, ok := t.weights[feedID]; ok {
		return w
	}
	return 1
}

// updateWeights recomputes the weights of feeds at intervals of updateWeightsEvery, and if the last time is in
// the future, because the clock was ahead.
func (t *storySummarizer) updateWeights(ctx context.Context) error {
	now := t.clock.Now()
	if age := now.Sub(t.weightsUpdated); age >= 0 && age < updateWeightsEvery {
		return nil
	}
	reach, err := t.store.FeedCoverage(ctx, now.Add(-reachPeriod), story.ReachSources)
	if err != nil {
		return fmt.Errorf("compute source weights: %w", err)
	}
	t.weights = make(map[string]float64, len(reach))
	for feedID, r := range reach {
		t.weights[feedID] = story.SourceWeight(r.Covered, r.Items)
	}
	t.weightsUpdated = now
	return nil
}

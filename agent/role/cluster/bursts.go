package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/role/work"
	"feedmesh/classify/story"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// burstHistory is the period counted at the start, from which baselines are computed.
	burstHistory = 72 * time.Hour

	// burstPast is the period of new items that must be known before a burst: the usual rates of topics differ
	// over a day.
	burstPast = 24 * time.Hour

	// burstDelay is the time from the end of a bin to its count, because items are first seen before they are
	// stored.
	burstDelay = 30 * time.Second

	// minBurstItems is the number of items from which a story is counted.
	minBurstItems = 3

	// maxBursts bounds the number of counted stories, categories, topics and views.
	maxBursts = 100_000

	sightingsBatch = 5000
)

// bursts detects stories, categories, topics and views whose items arrive faster than before. It counts items in
// bins of [story.BurstBin] from the store only, so a successor gets the same counts. Items published before their
// feed was added are not counted: many feeds added together are no burst of their subjects.
type bursts struct {
	store storage.Store
	out   subjects.Publisher
	fence storage.Fence

	countedUntil time.Time // end of the last counted bin
	first        time.Time // start of the first bin with items
	states       map[burstKey]*burstState
	small        map[string]int // item counts of stories below minBurstItems

	mu       sync.Mutex // protects the fields below, which storySummarizer reads
	bursting map[string]bool
	changed  []string // IDs of stories whose burst began or ended
}

// A burstKey identifies a story, category, topic or view.
type burstKey struct {
	kind, name string // as in a [placement.Burst]
}

type burstState struct {
	story.Burst
	since time.Time // start of the burst, if it is on
	items int       // since the burst began
	last  time.Time // end of the last bin with items
}

func newBursts(store storage.Store, out subjects.Publisher) *bursts {
	return &bursts{store: store, out: out, states: map[burstKey]*burstState{}, small: map[string]int{}, bursting: map[string]bool{}}
}

// run counts each bin after its end, until ctx ends. It starts with the bins of burstHistory, which publish
// no events.
func (b *bursts) run(ctx context.Context, clock work.Clock, log *slog.Logger) error {
	b.countedUntil = clock.Now().Add(-burstHistory).Truncate(story.BurstBin)
	for {
		err := b.countAll(ctx, clock.Now())
		if errors.Is(err, storage.ErrFenced) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			log.Warn("burst count failed", "err", err)
		}
		if !work.Sleep(ctx, burstDelay) {
			return nil
		}
	}
}

// countAll counts all bins that have ended, stores the current bursts, and publishes an event for each that
// began.
func (b *bursts) countAll(ctx context.Context, now time.Time) error {
	var began []placement.Burst
	bins := 0
	for ; !now.Before(b.countedUntil.Add(story.BurstBin + burstDelay)); b.countedUntil = b.countedUntil.Add(story.BurstBin) {
		begin, err := b.count(ctx, b.countedUntil, b.countedUntil.Add(story.BurstBin))
		if err != nil {
			return err
		}
		began = begin // of the last bin only: earlier ones are not news
		bins++
	}
	if bins == 0 {
		return nil
	}
	on := b.current()
	note, err := json.Marshal(on)
	if err != nil {
		return err
	}
	if err := storage.Notes(b.store).Put(ctx, b.fence, placement.BurstsNote, note); err != nil {
		return fmt.Errorf("store current bursts: %w", err)
	}
	var news []subjects.Message
	for _, burst := range began {
		if burst.Of == placement.OfView {
			continue // alerts read it; a view may be private
		}
		event := subjects.Event{Kind: subjects.BurstStart, At: burst.Since, Burst: burst.Of, Name: burst.Name}
		event.Text = fmt.Sprintf("%s %s: %d items in %v", burst.Of, burst.Name, burst.Items, story.BurstBin)
		if burst.Of == placement.OfStory {
			event.StoryID = burst.Name
		}
		news = append(news, event.Message())
	}
	return b.out.Publish(ctx, news...)
}

// count counts the items of a bin and returns the bursts that began with it.
func (b *bursts) count(ctx context.Context, from, until time.Time) (began []placement.Burst, err error) {
	all := 0
	counts := map[burstKey]int{}
	for last := (storage.Sighting{}); ; {
		page, err := b.store.Sightings(ctx, from, until, last, sightingsBatch)
		if err != nil {
			return nil, fmt.Errorf("read items from %v to %v: %w", from, until, err)
		}
		var ids []string
		for _, s := range page {
			if s.Archived {
				continue
			}
			all++
			ids = append(ids, s.ItemID)
			counts[burstKey{placement.OfStory, s.StoryID}]++
			for _, name := range s.Categories {
				counts[burstKey{placement.OfCategory, name}]++
			}
			for _, name := range s.Topics {
				counts[burstKey{placement.OfTopic, name}]++
			}
		}
		members, err := b.store.MembersOfItems(ctx, ids...)
		if err != nil {
			return nil, fmt.Errorf("read views of items: %w", err)
		}
		for _, m := range members {
			if !m.Past && !m.Absent {
				counts[burstKey{placement.OfView, strconv.FormatInt(m.View, 10)}]++
			}
		}
		if len(page) < sightingsBatch {
			break
		}
		last = page[len(page)-1]
	}
	if all > 0 && b.first.IsZero() {
		b.first = from
	}
	learning := b.first.IsZero() || from.Before(b.first.Add(burstPast))
	b.addKeys(counts)
	usual := b.baselineShares()
	for what, state := range b.states {
		n := counts[what]
		if n > 0 {
			state.last = until
		}
		if learning || !state.On && state.Share() > story.MaxBurstShare {
			state.Learn(n, all)
			continue
		}
		starts, ends := state.Add(n, all, usual[what.kind])
		switch {
		case starts:
			state.since, state.items = from, n
			began = append(began, placement.Burst{Of: what.kind, Name: what.name, Since: from, Items: n})
		case state.On:
			state.items += n
		}
		if starts || ends {
			b.recordChange(what, state.On)
		}
		if !state.On && until.Sub(state.last) > burstHistory {
			delete(b.states, what)
		}
	}
	slices.SortFunc(began, byName)
	return began, nil
}

// addKeys starts to count new keys; a story only from minBurstItems on.
func (b *bursts) addKeys(counts map[burstKey]int) {
	for what, n := range counts {
		if b.states[what] != nil || len(b.states) >= maxBursts {
			continue
		}
		if what.kind == placement.OfStory {
			if b.small[what.name] += n; b.small[what.name] < minBurstItems {
				continue
			}
			delete(b.small, what.name)
		}
		b.states[what] = &burstState{}
	}
	if len(b.small) > maxBursts {
		clear(b.small) // stories of one or two items
	}
}

// baselineShares returns by kind the share of all items that is assumed for a new key.
func (b *bursts) baselineShares() map[string]float64 {
	kinds := map[string]float64{}
	for what := range b.states {
		kinds[what.kind]++
	}
	for of, n := range kinds {
		kinds[of] = 1 / n
	}
	return kinds
}

// recordChange records that a story's burst began or ended.
func (b *bursts) recordChange(what burstKey, on bool) {
	if what.kind != placement.OfStory {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed = append(b.changed, what.name); on {
		b.bursting[what.name] = true
	} else {
		delete(b.bursting, what.name)
	}
}

// current returns the current bursts.
func (b *bursts) current() []placement.Burst {
	on := []placement.Burst{}
	for what, state := range b.states {
		if state.On {
			on = append(on, placement.Burst{Of: what.kind, Name: what.name, Since: state.since, Items: state.items})
		}
	}
	slices.SortFunc(on, byName)
	return on
}

func byName(x, y placement.Burst) int {
	return cmp.Or(cmp.Compare(x.Of, y.Of), cmp.Compare(x.Name, y.Name))
}

// isBursting reports whether a story has a burst.
func (b *bursts) isBursting(storyID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bursting[storyID]
}

// changedStories returns the IDs of stories whose burst began or ended since the last call.
func (b *bursts) changedStories() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed := b.changed
	b.changed = nil
	return changed
}

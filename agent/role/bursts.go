package role

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/tell"
	"feedmesh/classify/story"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// burstsBack is how far back what is usual is found out at the start.
	burstsBack = 72 * time.Hour

	// burstsSettle is how long after the end of a bin its items are counted: they
	// are first seen before they are stored.
	burstsSettle = 30 * time.Second

	// burstsFrom is from how many items on a story may burst, and is counted.
	burstsFrom = 3

	// maxBursts is how many stories, categories and topics are counted.
	maxBursts = 100_000

	sightingsAtOnce = 5000
)

// bursts knows of what items come more often than they used to. It counts them in
// bins of [story.BurstBin], from the store alone: who takes over counts the same.
type bursts struct {
	store storage.Store
	out   subjects.Publisher
	fence storage.Fence

	upto   time.Time // end of the last bin counted
	states map[bursting]*counting
	few    map[string]int // stories that are too small as yet, and how many items they have

	mu      sync.Mutex // of what follows, which who tells of stories asks for
	burning map[string]bool
	changed []string // IDs of stories that began or ceased to
}

// bursting is something whose items are counted: it may burst.
type bursting struct {
	of, name string // as in a [tell.Burst]
}

type counting struct {
	story.Burst
	since time.Time // of the burst, if it is on
	items int       // since then
	last  time.Time // bin that had any
}

func newBursts(store storage.Store, out subjects.Publisher) *bursts {
	return &bursts{store: store, out: out, states: map[bursting]*counting{}, few: map[string]int{}, burning: map[string]bool{}}
}

// run counts bins as they end, until ctx ends: first those of the last days, in
// silence.
func (b *bursts) run(ctx context.Context, clock Clock, log *slog.Logger) error {
	b.upto = clock.Now().Add(-burstsBack).Truncate(story.BurstBin)
	for {
		err := b.countAll(ctx, clock.Now())
		if errors.Is(err, storage.ErrFenced) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			log.Warn("can't count items for bursts", "err", err)
		}
		if !pause(ctx, burstsSettle) {
			return nil
		}
	}
}

// countAll counts all bins that have ended by now, and says what bursts.
func (b *bursts) countAll(ctx context.Context, now time.Time) error {
	var began []tell.Burst
	bins := 0
	for ; !now.Before(b.upto.Add(story.BurstBin + burstsSettle)); b.upto = b.upto.Add(story.BurstBin) {
		begin, err := b.count(ctx, b.upto, b.upto.Add(story.BurstBin))
		if err != nil {
			return err
		}
		began = begin // of the last one only: those before are no news
		bins++
	}
	if bins == 0 {
		return nil
	}
	on := b.list()
	note, err := json.Marshal(on)
	if err != nil {
		return err
	}
	if err := b.store.PutNote(ctx, b.fence, tell.BurstsNote, note); err != nil {
		return fmt.Errorf("note what bursts: %w", err)
	}
	var news []subjects.Message
	for _, burst := range began {
		event := subjects.Event{Kind: subjects.BurstStart, At: burst.Since, Burst: burst.Of, Name: burst.Name}
		event.Text = fmt.Sprintf("%s %s: %d items in %v", burst.Of, burst.Name, burst.Items, story.BurstBin)
		if burst.Of == ofStory {
			event.StoryID = burst.Name
		}
		news = append(news, event.Message())
	}
	return b.out.Publish(ctx, news...)
}

// What items are counted of.
const (
	ofStory    = "story"
	ofCategory = "category"
	ofTopic    = "topic"
)

// count counts the items of a bin, and returns what bursts from then on.
func (b *bursts) count(ctx context.Context, from, until time.Time) (began []tell.Burst, err error) {
	all := 0
	counts := map[bursting]int{}
	for last := (storage.Sighting{}); ; {
		page, err := b.store.Sightings(ctx, from, until, last, sightingsAtOnce)
		if err != nil {
			return nil, fmt.Errorf("read which items came from %v to %v: %w", from, until, err)
		}
		for _, s := range page {
			all++
			counts[bursting{ofStory, s.StoryID}]++
			for _, name := range s.Categories {
				counts[bursting{ofCategory, name}]++
			}
			for _, name := range s.Topics {
				counts[bursting{ofTopic, name}]++
			}
		}
		if len(page) < sightingsAtOnce {
			break
		}
		last = page[len(page)-1]
	}
	b.meet(counts)
	usual := b.usual()
	for what, state := range b.states {
		n := counts[what]
		starts, ends := state.Add(n, all, usual[what.of])
		if n > 0 {
			state.last = until
		}
		switch {
		case starts:
			state.since, state.items = from, n
			began = append(began, tell.Burst{Of: what.of, Name: what.name, Since: from, Items: n})
		case state.On:
			state.items += n
		}
		if starts || ends {
			b.note(what, state.On)
		}
		if !state.On && until.Sub(state.last) > burstsBack {
			delete(b.states, what)
		}
	}
	slices.SortFunc(began, byName)
	return began, nil
}

// meet begins to count what has not been counted before: of stories those that are
// large enough.
func (b *bursts) meet(counts map[bursting]int) {
	for what, n := range counts {
		if b.states[what] != nil || len(b.states) >= maxBursts {
			continue
		}
		if what.of == ofStory {
			if b.few[what.name] += n; b.few[what.name] < burstsFrom {
				continue
			}
			delete(b.few, what.name)
		}
		b.states[what] = &counting{}
	}
	if len(b.few) > maxBursts {
		clear(b.few) // they are stories of one or two items
	}
}

// usual returns the share of all items that is usual for what nothing is known of.
func (b *bursts) usual() map[string]float64 {
	kinds := map[string]float64{}
	for what := range b.states {
		kinds[what.of]++
	}
	for of, n := range kinds {
		kinds[of] = 1 / n
	}
	return kinds
}

// note remembers that a story began to burst, or ceased to.
func (b *bursts) note(what bursting, on bool) {
	if what.of != ofStory {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed = append(b.changed, what.name); on {
		b.burning[what.name] = true
	} else {
		delete(b.burning, what.name)
	}
}

// list returns what bursts.
func (b *bursts) list() []tell.Burst {
	on := []tell.Burst{}
	for what, state := range b.states {
		if state.On {
			on = append(on, tell.Burst{Of: what.of, Name: what.name, Since: state.since, Items: state.items})
		}
	}
	slices.SortFunc(on, byName)
	return on
}

func byName(x, y tell.Burst) int { return cmp.Or(cmp.Compare(x.Of, y.Of), cmp.Compare(x.Name, y.Name)) }

// on reports whether a story bursts.
func (b *bursts) on(storyID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.burning[storyID]
}

// changedStories returns, once, the IDs of stories that began to burst or ceased to.
func (b *bursts) changedStories() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed := b.changed
	b.changed = nil
	return changed
}

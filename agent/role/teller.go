package role

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/bits"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/tell"
	"feedmesh/classify/story"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// tellEvery is how often stories are told that changed: a story that grows is
	// read anew each time. The larger, the more rarely: one item more changes it
	// less. One of a thousand items is told each twenty seconds.
	tellEvery = 2 * time.Second
	tellRest  = 20 * time.Millisecond // for each item of a story
	maxRest   = 30 * time.Second

	// tellAtOnce is how many marks are taken at once, beside those of stories that
	// rest; of these at most maxResting are left waiting.
	tellAtOnce = 500
	maxResting = 20_000

	// weighEvery is how often it is found out what sources count, by what of theirs
	// others told too in reachOf.
	weighEvery = 6 * time.Hour
	reachOf    = 30 * 24 * time.Hour
)

// teller is the one who tells of stories: what it tells it makes of the items that
// the store has, each time the store marks that something of a story changed.
type teller struct {
	store storage.Store
	out   subjects.Publisher
	clock Clock
	log   *slog.Logger
	fence storage.Fence

	rests   map[string]time.Time // until when stories are not told anew, by ID
	resting int                  // marks of such stories

	weights map[string]float64 // by feed ID, where it is not 1
	weighed time.Time
	bursts  *bursts
}

func newTeller(env *Env) *teller {
	return &teller{store: env.Store, out: env.Mesh, clock: env.Clock, log: env.Log, bursts: newBursts(env.Store, env.Mesh)}
}

func (t *teller) run(ctx context.Context) error {
	var err error
	if t.fence, err = t.store.NextFence(ctx, "stories"); err != nil {
		return fmt.Errorf("take over telling of stories: %w", err)
	}
	t.bursts.fence = t.fence
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return t.bursts.run(ctx, t.clock, t.log) })
	group.Go(func() error { return every(ctx, tellEvery, t.tellAll) })
	return group.Wait()
}

// tellAll tells of all stories that are marked. What the store can't do now is done
// the next time; one who was replaced ends.
func (t *teller) tellAll(ctx context.Context) error {
	for {
		n, err := t.tellSome(ctx)
		switch {
		case errors.Is(err, storage.ErrFenced):
			return err
		case err != nil:
			t.log.Warn("can't tell of stories", "err", err)
			return nil
		case n < tellAtOnce:
			return nil
		}
	}
}

func (t *teller) tellSome(ctx context.Context) (n int, err error) {
	if err := t.weigh(ctx); err != nil {
		return 0, err
	}
	all, err := t.store.UntoldStories(ctx, tellAtOnce+t.resting)
	if err != nil {
		return 0, err
	}
	marks := t.due(all)
	ids := t.bursts.changedStories()
	for _, mark := range marks {
		ids = append(ids, mark.StoryID)
	}
	var told, grown []storage.Story
	var gone []string
	var news []subjects.Message
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		s, ok, err := t.tell(ctx, id)
		if err != nil {
			return 0, err
		}
		if !ok {
			gone = append(gone, id)
			continue
		}
		old, err := t.store.Story(ctx, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return 0, err
		}
		told, news = append(told, s), append(news, isNews(old, s)...)
		if outgrows(old, s) {
			grown = append(grown, s)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	// Heard twice, if it can't be written; but not lost.
	if err := t.out.Publish(ctx, news...); err != nil {
		return 0, err
	}
	if err := t.store.TellStories(ctx, t.fence, marks, told, gone); err != nil {
		return 0, err
	}
	t.rest(told)
	return len(marks), t.indexAnew(ctx, grown)
}

// outgrows reports whether a story has twice as many publishers as when its items
// were last indexed for that: 2, 4, 8 and so on. So each item is indexed anew for
// it no more often than the logarithm of how much its story is told.
func outgrows(old, s storage.Story) bool {
	return s.Sources > 1 && bits.Len(uint(s.Sources)) > bits.Len(uint(old.Sources))
}

// indexAnew has the items of stories indexed once more, since how much they are
// told counts there. It comes after the telling, which the index reads; what is
// lost in between comes right when the story has grown again.
func (t *teller) indexAnew(ctx context.Context, grown []storage.Story) error {
	for _, s := range grown {
		of, err := t.store.ReadStory(ctx, s.ID, tell.MaxRead)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		ids := make([]string, len(of.Items))
		for i, item := range of.Items {
			ids[i] = item.ID
		}
		if err := subjects.PublishIndex(ctx, t.out, fmt.Sprintf("told by %d", s.Sources), ids); err != nil {
			return err
		}
	}
	return nil
}

// due returns the marks of stories that do not rest.
func (t *teller) due(marks []storage.Untold) (due []storage.Untold) {
	now := t.clock.Now()
	if len(marks) > maxResting {
		t.rests = nil
	}
	maps.DeleteFunc(t.rests, func(_ string, until time.Time) bool { return !now.Before(until) })
	for _, mark := range marks {
		if _, rests := t.rests[mark.StoryID]; !rests {
			due = append(due, mark)
		}
	}
	t.resting = len(marks) - len(due)
	return due
}

// rest has large stories that were just told rest.
func (t *teller) rest(told []storage.Story) {
	now := t.clock.Now()
	if t.rests == nil {
		t.rests = map[string]time.Time{}
	}
	for _, s := range told {
		if d := min(time.Duration(s.Items)*tellRest, maxRest); d > tellEvery {
			t.rests[s.ID] = now.Add(d)
		}
	}
}

// tell returns what is told of a story now, and whether there is anything.
func (t *teller) tell(ctx context.Context, id string) (storage.Story, bool, error) {
	of, err := t.store.ReadStory(ctx, id, tell.MaxRead)
	if errors.Is(err, storage.ErrNotFound) {
		return storage.Story{}, false, nil
	}
	if err != nil {
		return storage.Story{}, false, err
	}
	s, ok := tell.Story(id, of, t.weight, t.bursts.on(id), t.clock.Now())
	return s, ok, nil
}

// isNews returns what those who listen are told of a story: that it is there, or
// that more publishers tell of it than did, or nothing. old is the zero Story if
// nothing was told of it.
func isNews(old, s storage.Story) []subjects.Message {
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

// weight returns what a feed counts.
func (t *teller) weight(feedID string) float64 {
	if w, ok := t.weights[feedID]; ok {
		return w
	}
	return 1
}

// weigh finds out, now and then, what feeds count.
func (t *teller) weigh(ctx context.Context) error {
	now := t.clock.Now()
	if !t.weighed.IsZero() && now.Sub(t.weighed) < weighEvery {
		return nil
	}
	reach, err := t.store.Reach(ctx, now.Add(-reachOf), story.ReachSources)
	if err != nil {
		return fmt.Errorf("find out what sources count: %w", err)
	}
	t.weights = make(map[string]float64, len(reach))
	for feedID, r := range reach {
		t.weights[feedID] = story.SourceWeight(r.Reached, r.Items)
	}
	t.weighed = now
	return nil
}

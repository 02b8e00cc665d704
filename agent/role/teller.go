package role

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/bits"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/tell"
	"feedmesh/classify/story"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// tellEvery is how often stories are told that changed: a story that grows is
	// read anew each time. One that was just told rests before it is told anew,
	// twice as long each time that it goes on growing; and the larger it is, as one
	// item more changes it less. So what is told is at most maxRest behind, and what
	// is new is told at once.
	tellEvery = 2 * time.Second
	tellRest  = 20 * time.Millisecond // for each item of a story
	maxRest   = 30 * time.Second

	// tellAtOnce is how many marks are taken at once, beside those of stories that
	// rest; of these at most maxResting are left waiting.
	tellAtOnce = 500
	maxResting = 20_000

	// readAtOnce is how many stories are read at once, of up to [tell.MaxRead] items
	// of a kilobyte each.
	readAtOnce = 20

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

	rests   map[string]rest // of stories that were just told, by ID
	resting int             // marks that wait for the end of a rest

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

// A rest is a time during which a story is not told anew.
type rest struct {
	until time.Time
	last  time.Duration // how long it is
}

// over reports whether a story whose rest has ended has been quiet for as long
// again, so that it counts as one that was not just told.
func (r rest) over(now time.Time) bool { return now.After(r.until.Add(r.last + 2*tellEvery)) }

// tellAll tells of all stories that are marked. What the store can't do now is done
// the next time; one who was replaced ends.
func (t *teller) tellAll(ctx context.Context) error {
	for {
		more, err := t.tellSome(ctx)
		switch {
		case errors.Is(err, storage.ErrFenced):
			return err
		case err != nil:
			t.log.Warn("can't tell of stories", "err", err)
			return nil
		case !more:
			return nil
		}
	}
}

// tellSome tells of the stories of the oldest marks. It reports whether there may
// be more marks.
func (t *teller) tellSome(ctx context.Context) (more bool, err error) {
	if err := t.weigh(ctx); err != nil {
		return false, err
	}
	room := tellAtOnce + t.resting
	marks, err := t.store.UntoldStories(ctx, room)
	if err != nil {
		return false, err
	}
	due, done := t.due(marks)
	if due = append(t.bursts.changedStories(), due...); len(due) == 0 && len(done) == 0 {
		return len(marks) == room, nil
	}
	tellings, gone, err := t.tellThese(ctx, due)
	if err != nil {
		return false, err
	}
	var told []storage.Story
	var news []subjects.Message
	for _, now := range tellings {
		told, news = append(told, now.Story), append(news, isNews(now.old, now.Story)...)
	}
	// Heard twice, if it can't be written; but not lost.
	if err := t.out.Publish(ctx, news...); err != nil {
		return false, err
	}
	if err := t.store.TellStories(ctx, t.fence, done, told, gone); err != nil {
		return false, err
	}
	t.rest(told)
	return len(marks) == room, t.indexAnew(ctx, tellings)
}

// A telling is what is told of a story now.
type telling struct {
	storage.Story
	old   storage.Story // what was told of it before, or the zero Story
	items []string      // IDs of its items if they are to be indexed anew
}

// tellThese returns what is told of stories now, once of each, and the IDs of those of
// which there is nothing to tell.
func (t *teller) tellThese(ctx context.Context, ids []string) (tellings []telling, gone []string, err error) {
	seen := map[string]bool{}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
	old, err := t.store.ToldStories(ctx, ids...)
	if err != nil {
		return nil, nil, err
	}
	for some := range slices.Chunk(ids, readAtOnce) {
		made, err := t.store.ReadStories(ctx, tell.MaxRead, some...)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range some {
			if now, ok := t.tell(id, made[id], old[id]); ok {
				tellings = append(tellings, now)
			} else {
				gone = append(gone, id)
			}
		}
	}
	return tellings, gone, nil
}

// tell returns what is told of a story now, if there is anything to tell.
func (t *teller) tell(id string, of storage.Told, old storage.Story) (telling, bool) {
	s, ok := tell.Story(id, of, t.weight, t.bursts.on(id), t.clock.Now())
	now := telling{Story: s, old: old}
	if ok && outgrows(old, s) {
		for _, item := range of.Items {
			now.items = append(now.items, item.ID)
		}
	}
	return now, ok
}

// outgrows reports whether a story has twice as many publishers as when its items
// were last indexed for that: 2, 4, 8 and so on. So each item is indexed anew for
// it no more often than the logarithm of how much its story is told.
func outgrows(old, s storage.Story) bool {
	return s.Sources > 1 && bits.Len(uint(s.Sources)) > bits.Len(uint(old.Sources))
}

// indexAnew has the items of stories indexed once more that outgrew what was told of
// them, since how much they are told counts there. It comes after the telling, which
// the index reads; what is lost in between comes right when the story has grown again.
func (t *teller) indexAnew(ctx context.Context, tellings []telling) error {
	for _, s := range tellings {
		if len(s.items) == 0 {
			continue
		}
		if err := subjects.PublishIndex(ctx, t.out, fmt.Sprintf("told by %d", s.Sources), s.items); err != nil {
			return err
		}
	}
	return nil
}

// due returns the ID of the story of each mark that does not rest, and the marks that
// are done with once these are told: all of theirs; and of a story that rests all but
// one, as one is enough to have it told when it has rested.
func (t *teller) due(marks []storage.Untold) (ids []string, done []storage.Untold) {
	now := t.clock.Now()
	if len(marks) > maxResting {
		t.rests = nil
	}
	maps.DeleteFunc(t.rests, func(_ string, r rest) bool { return r.over(now) })
	waits := map[string]bool{}
	for _, mark := range marks {
		switch {
		case !now.Before(t.rests[mark.StoryID].until):
			ids, done = append(ids, mark.StoryID), append(done, mark)
		case waits[mark.StoryID]:
			done = append(done, mark)
		default:
			waits[mark.StoryID] = true
		}
	}
	t.resting = len(waits)
	return ids, done
}

// rest has stories that were just told rest, but for those that were not told
// shortly before and are small.
func (t *teller) rest(told []storage.Story) {
	now := t.clock.Now()
	if t.rests == nil {
		t.rests = map[string]rest{}
	}
	for _, s := range told {
		if len(t.rests) >= maxResting {
			return
		}
		last, d := t.rests[s.ID], time.Duration(s.Items)*tellRest
		if !last.until.IsZero() {
			d = max(d, 2*max(last.last, tellEvery))
		}
		if d = min(d, maxRest); d <= tellEvery {
			d = 0
		}
		t.rests[s.ID] = rest{now.Add(d), d}
	}
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

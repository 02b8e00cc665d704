package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// StoryEdits answers requests to change stories. Later classification does not change an edit. An impossible
// edit is a conflict.
type StoryEdits struct {
	*editor
	stories *Stories
}

// Split takes an event or an item out of a story, and returns the rest of the story. The call is idempotent.
func (s *StoryEdits) Split(ctx context.Context, in wire.SplitStoryRequest) (wire.StoryView, error) {
	if (in.Body.EventID == "") == (in.Body.ItemID == "") {
		return wire.StoryView{}, &Error{KindInvalid, "name an event or an item, and not both", []FieldError{fieldf("body", "want event_id or item_id")}}
	}
	split := s.splitEvent
	if in.Body.ItemID != "" {
		split = s.splitItem
	}
	pending, err := split(ctx, in.ID, in.Body.EventID+in.Body.ItemID)
	if err != nil {
		return wire.StoryView{}, err
	}
	return s.storyAfter(ctx, in.ID, pending)
}

func (s *StoryEdits) splitEvent(ctx context.Context, id, event string) (pending bool, err error) {
	stored, err := s.stories.read(ctx, id, placement.MaxItems)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(stored.Items, func(i storage.Item) bool { return i.EventID == event })
	switch {
	case stored.Count == 0:
		return false, fmt.Errorf("story %s: %w", id, storage.ErrNotFound)
	case at < 0:
		is, err := s.isAlone(ctx, event)
		if err == nil && !is {
			err = fmt.Errorf("event %s in story %s: %w", event, id, storage.ErrNotFound)
		}
		return false, err
	case stored.Events == 1:
		return false, errorf(KindConflict, "event %s is the only content of this story: nothing to split", event)
	}
	return s.apply(ctx, stored.Items[at].Partition, subjects.Override{Kind: subjects.SplitEvent, A: event, B: id}, s.hasLeft(stored.Items[at].ID, id))
}

func (s *StoryEdits) splitItem(ctx context.Context, id, itemID string) (pending bool, err error) {
	item, err := storage.ItemByID(ctx, s.Store, itemID)
	if err != nil {
		return false, fmt.Errorf("item %s: %w", itemID, err)
	}
	stored, err := s.stories.read(ctx, item.StoryID, 1)
	if err != nil {
		return false, err
	}
	repeats, err := s.Store.Duplicates(ctx, itemID, 1)
	switch {
	case err != nil:
		return false, fmt.Errorf("read duplicates of item %s: %w", itemID, err)
	case item.StoryID != id && stored.Count == 1:
		return false, nil // done before
	case item.StoryID != id:
		return false, errorf(KindConflict, "item %s belongs to story %s", itemID, item.StoryID)
	case stored.Count == 1:
		return false, errorf(KindConflict, "item %s is the only content of this story: nothing to split", itemID)
	case len(repeats) > 0:
		return false, errorf(KindConflict, "item %s has duplicates: split its event %s, or make those originals first", itemID, item.EventID)
	}
	return s.apply(ctx, item.Partition, subjects.Override{Kind: subjects.SplitItem, A: itemID}, s.hasLeft(itemID, id))
}

// hasLeft returns a function that reports whether an item has left a story.
func (s *StoryEdits) hasLeft(itemID, storyID string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		item, err := storage.ItemByID(ctx, s.Store, itemID)
		return item.StoryID != storyID, err
	}
}

// isAlone reports whether an event has a story of its own.
func (s *StoryEdits) isAlone(ctx context.Context, event string) (bool, error) {
	for _, own := range storyIDsOf(event) {
		stored, err := s.stories.read(ctx, own, 1)
		if err != nil || stored.Events == 1 && stored.Items[0].EventID == event {
			return err == nil, err
		}
	}
	return false, nil
}

// storyIDsOf returns the possible IDs of a story that began with an event: the first, unless the story that
// it left has that ID.
func storyIDsOf(event string) []string {
	first := storage.StoryID(event)
	return []string{first, storage.StoryID(event + "'"), storage.StoryID(first + "'")}
}

// Join joins two stories, and returns the result. The call is idempotent.
func (s *StoryEdits) Join(ctx context.Context, in wire.JoinStoriesRequest) (wire.StoryView, error) {
	id, other := in.ID, in.Body.StoryID
	if id == other {
		return wire.StoryView{}, errorf(KindConflict, "a story can't be joined with itself")
	}
	a, err := s.stories.read(ctx, id, placement.MaxItems)
	if err != nil {
		return wire.StoryView{}, err
	}
	b, err := s.stories.read(ctx, other, placement.MaxItems)
	switch {
	case err != nil:
		return wire.StoryView{}, err
	case a.Count > 0 && b.Count == 0 && wasJoined(a, other):
		return s.stories.Get(ctx, wire.ByID{ID: id})
	case b.Count > 0 && a.Count == 0 && wasJoined(b, id):
		return s.stories.Get(ctx, wire.ByID{ID: other})
	case a.Count == 0:
		return wire.StoryView{}, fmt.Errorf("story %s: %w", id, storage.ErrNotFound)
	case b.Count == 0:
		return wire.StoryView{}, fmt.Errorf("story %s: %w", other, storage.ErrNotFound)
	}
	mine, theirs := a.Items[0], b.Items[0]
	if mine.Partition != theirs.Partition {
		return wire.StoryView{}, errorf(KindConflict, "story %s is in language %s, this one in %s: stories of two languages can't be joined", other, theirs.Partition, mine.Partition)
	}
	now := id
	pending, err := s.apply(ctx, mine.Partition, subjects.Override{Kind: subjects.JoinStories, A: id, B: other}, func(ctx context.Context) (bool, error) {
		items, err := s.Store.Items(ctx, mine.ID, theirs.ID)
		if err != nil || len(items) < 2 {
			return false, err
		}
		now = items[0].StoryID
		return items[0].StoryID == items[1].StoryID, nil
	})
	if err != nil {
		return wire.StoryView{}, err
	}
	return s.storyAfter(ctx, now, pending)
}

// wasJoined reports whether a story contains the first event of another story that is gone, which shows that
// they were joined.
func wasJoined(of storage.StoryItems, story string) bool {
	return slices.ContainsFunc(of.Items, func(i storage.Item) bool { return slices.Contains(storyIDsOf(i.EventID), story) })
}

// storyAfter returns a story after an edit.
func (s *StoryEdits) storyAfter(ctx context.Context, id string, pending bool) (wire.StoryView, error) {
	story, err := s.stories.Get(ctx, wire.ByID{ID: id})
	if pending {
		story.Pending, story.Notes = true, append([]string{pendingNote}, story.Notes...)
	}
	return story, err
}

const (
	// EditSchema is the first schema version with manual edits of stories.
	EditSchema = 3

	// defaultEditTimeout is the time a response waits until the store shows an edit.
	defaultEditTimeout = 5 * time.Second
)

// ErrOlderAgent reports that an older agent in the mesh does not support manual edits.
var ErrOlderAgent = errors.New("the mesh contains an agent of an older version that does not support this: update or stop it, then retry")

// pendingNote is the note of a response that was sent before the edit was applied.
const pendingNote = "the edit is accepted and will be applied when the cluster actor of its language processes it; this is the current state"

// An editor applies manual edits of stories and duplicates.
type editor struct {
	*core
	Timeout time.Duration // for the store to show an edit
}

// apply publishes an edit to the cluster actor of a language, and waits until the store shows it; pending
// reports a timeout.
func (e *editor) apply(ctx context.Context, partition string, edit subjects.Override, done func(ctx context.Context) (bool, error)) (pending bool, err error) {
	if e.Mesh.Schema(ctx) < EditSchema {
		return false, ErrOlderAgent
	}
	edit.ID = nuid.Next()
	if err := subjects.Publish(ctx, e.Mesh, subjects.ClusterQueue, subjects.Cluster{Partition: partition, Override: &edit}); err != nil {
		return false, fmt.Errorf("%s: %w", edit.Kind, err)
	}
	enough := time.NewTimer(e.Timeout)
	defer enough.Stop()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 300*time.Millisecond) {
		if is, err := done(ctx); is || err != nil {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-enough.C:
			return true, nil
		case <-time.After(wait):
		}
	}
}

// MaxDuplicates is the maximum number of duplicates in an answer.
const MaxDuplicates = 500

// Duplicates answers requests about items that repeat others.
type Duplicates struct{ *editor }

// List returns the original of an item and its duplicates. It returns [storage.ErrNotFound] if the item
// does not exist.
func (d *Duplicates) List(ctx context.Context, in wire.ByID) (wire.Duplicates, error) {
	first, err := storage.ItemByID(ctx, d.Store, in.ID)
	if err != nil {
		return wire.Duplicates{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	if first, err = d.firstOf(ctx, first); err != nil {
		return wire.Duplicates{}, err
	}
	items, err := d.Store.Duplicates(ctx, first.ID, MaxDuplicates+1) // one more than shown, to detect that more exist
	if err != nil {
		return wire.Duplicates{}, fmt.Errorf("read duplicates of item %s: %w", first.ID, err)
	}
	var found wire.Duplicates
	items, more := firstPage(items, MaxDuplicates)
	if more {
		found.Notes = append(found.Notes, fmt.Sprintf("it has more than %d duplicates; these are the first", MaxDuplicates))
	}
	titles := d.titles(ctx)
	found.First, found.Items = briefOf(first, titles), briefsOf(items, titles)
	return found, nil
}

// firstOf returns the original of an item: the item itself if it is no duplicate, or of an item that was
// removed.
func (d *Duplicates) firstOf(ctx context.Context, item storage.Item) (storage.Item, error) {
	if item.DuplicateOf == "" {
		return item, nil
	}
	first, err := storage.ItemByID(ctx, d.Store, item.DuplicateOf)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return item, nil
	case err != nil:
		return item, fmt.Errorf("item %s: %w", item.DuplicateOf, err)
	}
	return first, nil
}

// Set makes an item a duplicate of another item, or of that item's original, and returns the original with
// all duplicates. An impossible edit is a conflict. The call is idempotent.
func (d *Duplicates) Set(ctx context.Context, in wire.RepeatItemRequest) (wire.Duplicates, error) {
	id, of := in.ID, in.Body.Of
	if id == of {
		return wire.Duplicates{}, errorf(KindConflict, "an item can't be a duplicate of itself")
	}
	item, err := storage.ItemByID(ctx, d.Store, id)
	if err != nil {
		return wire.Duplicates{}, fmt.Errorf("item %s: %w", id, err)
	}
	other, err := storage.ItemByID(ctx, d.Store, of)
	if err != nil {
		return wire.Duplicates{}, fmt.Errorf("item %s: %w", of, err)
	}
	if other.DuplicateOf == id {
		return wire.Duplicates{}, errorf(KindConflict, "item %s is a duplicate of this one: make it an original first", of)
	}
	first, err := d.firstOf(ctx, other)
	if err != nil {
		return wire.Duplicates{}, err
	}
	if item.Partition != first.Partition {
		return wire.Duplicates{}, errorf(KindConflict, "item %s is in language %s, this one in %s: items of different languages are not compared", of, first.Partition, item.Partition)
	}
	repeats := func(i storage.Item) bool { return i.DuplicateOf == first.ID && i.DuplicateBy == sourceManual }
	if repeats(item) {
		return d.List(ctx, wire.ByID{ID: id})
	}
	return d.duplicatesAfter(ctx, item, subjects.Override{Kind: subjects.RepeatItem, A: of, B: id}, repeats)
}

// sourceManual is the value of DuplicateBy after a manual edit.
const sourceManual = "hand"

// Clear makes an item an original and returns it with its duplicates. An impossible edit is a conflict. The
// call is idempotent.
func (d *Duplicates) Clear(ctx context.Context, in wire.ByID) (wire.Duplicates, error) {
	id := in.ID
	item, err := storage.ItemByID(ctx, d.Store, id)
	switch {
	case err != nil:
		return wire.Duplicates{}, fmt.Errorf("item %s: %w", id, err)
	case item.DuplicateOf == "" && item.DuplicateBy == sourceManual:
		return d.List(ctx, wire.ByID{ID: id}) // done before
	case item.DuplicateOf == "":
		return wire.Duplicates{}, errorf(KindConflict, "item %s is not a duplicate", id)
	}
	return d.duplicatesAfter(ctx, item, subjects.Override{Kind: subjects.DifferItem, A: id}, func(i storage.Item) bool { return i.DuplicateOf == "" })
}

// duplicatesAfter applies a manual edit of an item and returns its duplicates.
func (d *Duplicates) duplicatesAfter(ctx context.Context, item storage.Item, edit subjects.Override, done func(storage.Item) bool) (wire.Duplicates, error) {
	pending, err := d.apply(ctx, item.Partition, edit, func(ctx context.Context) (bool, error) {
		now, err := storage.ItemByID(ctx, d.Store, item.ID)
		return err == nil && done(now), err
	})
	if err != nil {
		return wire.Duplicates{}, err
	}
	found, err := d.List(ctx, wire.ByID{ID: item.ID})
	if pending {
		found.Pending, found.Notes = true, slices.Insert(found.Notes, 0, pendingNote)
	}
	return found, err
}

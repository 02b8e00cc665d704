package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/nats-io/nuid"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A ConflictError states why an edit is impossible in the current state.
type ConflictError struct{ Reason string }

// Error returns the reason.
func (r *ConflictError) Error() string { return r.Reason }

func conflictf(format string, args ...any) error { return &ConflictError{fmt.Sprintf(format, args...)} }

const (
	// editSchema is the first schema version with manual edits of stories.
	editSchema = 3

	// defaultEditTimeout is the time a response waits until the store shows an edit.
	defaultEditTimeout = 5 * time.Second
)

// ErrOlderAgent reports that an older agent in the mesh does not support manual edits.
var ErrOlderAgent = errors.New("the mesh contains an agent of an older version that does not support this: update or stop it, then retry")

// pendingNote is the note of a response that was sent before the edit was applied.
const pendingNote = "the edit is accepted and will be applied when the cluster actor of its language processes it; this is the current state"

func (s *Server) storyEditRoutes(api huma.API) {
	split := op("POST", "/api/stories/{id}/split", "split-story", "Split an event or an item from a story", 400, 404, 409, 422, 503)
	split.Description = "Later classification does not change this. Returns the story that it left."
	describeAccepted[wire.StoryView](api, &split)
	huma.Register(api, split, func(ctx context.Context, in *struct {
		ID   string `path:"id" maxLength:"64"`
		Body wire.SplitRequest
	}) (*editResponse[wire.StoryView], error) {
		if (in.Body.EventID == "") == (in.Body.ItemID == "") {
			return nil, huma.Error422UnprocessableEntity("name an event or an item, and not both", fieldError("body", "want event_id or item_id"))
		}
		story, err := s.SplitStory(ctx, in.ID, in.Body)
		return respondToEdit(s, story, story.Pending, err)
	})
	join := op("POST", "/api/stories/{id}/join", "join-stories", "Join two stories", 400, 404, 409, 422, 503)
	join.Description = "Later classification does not change this. The larger story keeps its ID."
	describeAccepted[wire.StoryView](api, &join)
	huma.Register(api, join, func(ctx context.Context, in *struct {
		ID   string `path:"id" maxLength:"64"`
		Body struct {
			StoryID string `json:"story_id" minLength:"1" maxLength:"64"`
		}
	}) (*editResponse[wire.StoryView], error) {
		story, err := s.JoinStories(ctx, in.ID, in.Body.StoryID)
		return respondToEdit(s, story, story.Pending, err)
	})
}

// An editResponse is the response to a manual edit: 200 if it is applied, else 202.
type editResponse[T any] struct {
	Status int
	Body   T
}

func respondToEdit[T any](s *Server, view T, pending bool, err error) (*editResponse[T], error) {
	switch {
	case err != nil:
		return nil, s.problem(err)
	case pending:
		return &editResponse[T]{http.StatusAccepted, view}, nil
	}
	return &editResponse[T]{http.StatusOK, view}, nil
}

// describeAccepted adds the 202 response to the description of an operation.
func describeAccepted[T any](api huma.API, o *huma.Operation) {
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	o.Responses = map[string]*huma.Response{"202": {
		Description: "Accepted: the edit is not applied yet", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
}

// SplitStory takes an event or an item out of a story, and returns the rest of the story. An impossible edit
// is a [*ConflictError]. The call is idempotent.
func (s *Server) SplitStory(ctx context.Context, id string, what wire.SplitRequest) (wire.StoryView, error) {
	split := s.splitEvent
	if what.ItemID != "" {
		split = s.splitItem
	}
	pending, err := split(ctx, id, what.EventID+what.ItemID)
	if err != nil {
		return wire.StoryView{}, err
	}
	return s.storyAfter(ctx, id, pending)
}

func (s *Server) splitEvent(ctx context.Context, id, event string) (pending bool, err error) {
	stored, err := s.readStory(ctx, id, placement.MaxItems)
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
		return false, conflictf("event %s is the only content of this story: nothing to split", event)
	}
	return s.applyEdit(ctx, stored.Items[at].Partition, subjects.Override{Kind: subjects.SplitEvent, A: event, B: id}, s.hasLeft(stored.Items[at].ID, id))
}

func (s *Server) splitItem(ctx context.Context, id, itemID string) (pending bool, err error) {
	item, err := storage.ItemByID(ctx, s.Store, itemID)
	if err != nil {
		return false, fmt.Errorf("item %s: %w", itemID, err)
	}
	stored, err := s.readStory(ctx, item.StoryID, 1)
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
		return false, conflictf("item %s belongs to story %s", itemID, item.StoryID)
	case stored.Count == 1:
		return false, conflictf("item %s is the only content of this story: nothing to split", itemID)
	case len(repeats) > 0:
		return false, conflictf("item %s has duplicates: split its event %s, or make those originals first", itemID, item.EventID)
	}
	return s.applyEdit(ctx, item.Partition, subjects.Override{Kind: subjects.SplitItem, A: itemID}, s.hasLeft(itemID, id))
}

// hasLeft returns a function that reports whether an item has left a story.
func (s *Server) hasLeft(itemID, storyID string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		item, err := storage.ItemByID(ctx, s.Store, itemID)
		return item.StoryID != storyID, err
	}
}

// isAlone reports whether an event has a story of its own.
func (s *Server) isAlone(ctx context.Context, event string) (bool, error) {
	for _, own := range storyIDsOf(event) {
		stored, err := s.readStory(ctx, own, 1)
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

// JoinStories joins two stories, and returns the result. An impossible edit is a [*ConflictError]. The call
// is idempotent.
func (s *Server) JoinStories(ctx context.Context, id, other string) (wire.StoryView, error) {
	if id == other {
		return wire.StoryView{}, conflictf("a story can't be joined with itself")
	}
	a, err := s.readStory(ctx, id, placement.MaxItems)
	if err != nil {
		return wire.StoryView{}, err
	}
	b, err := s.readStory(ctx, other, placement.MaxItems)
	switch {
	case err != nil:
		return wire.StoryView{}, err
	case a.Count > 0 && b.Count == 0 && wasJoined(a, other):
		return s.Story(ctx, id)
	case b.Count > 0 && a.Count == 0 && wasJoined(b, id):
		return s.Story(ctx, other)
	case a.Count == 0:
		return wire.StoryView{}, fmt.Errorf("story %s: %w", id, storage.ErrNotFound)
	case b.Count == 0:
		return wire.StoryView{}, fmt.Errorf("story %s: %w", other, storage.ErrNotFound)
	}
	mine, theirs := a.Items[0], b.Items[0]
	if mine.Partition != theirs.Partition {
		return wire.StoryView{}, conflictf("story %s is in language %s, this one in %s: stories of two languages can't be joined", other, theirs.Partition, mine.Partition)
	}
	now := id
	pending, err := s.applyEdit(ctx, mine.Partition, subjects.Override{Kind: subjects.JoinStories, A: id, B: other}, func(ctx context.Context) (bool, error) {
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
func (s *Server) storyAfter(ctx context.Context, id string, pending bool) (wire.StoryView, error) {
	story, err := s.Story(ctx, id)
	if pending {
		story.Pending, story.Notes = true, append([]string{pendingNote}, story.Notes...)
	}
	return story, err
}

// applyEdit publishes an edit to the cluster actor of a language, and waits until the store shows it; pending
// reports a timeout.
func (s *Server) applyEdit(ctx context.Context, partition string, edit subjects.Override, done func(ctx context.Context) (bool, error)) (pending bool, err error) {
	if s.Mesh.Schema(ctx) < editSchema {
		return false, ErrOlderAgent
	}
	edit.ID = nuid.Next()
	if err := subjects.Publish(ctx, s.Mesh, subjects.ClusterQueue, subjects.Cluster{Partition: partition, Override: &edit}); err != nil {
		return false, fmt.Errorf("%s: %w", edit.Kind, err)
	}
	enough := time.NewTimer(s.editTimeout)
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

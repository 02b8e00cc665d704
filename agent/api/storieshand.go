package api

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

	"feedmesh/agent/tell"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// A Splitting says what is to leave a story: an event or an item.
type Splitting struct {
	EventID string `json:"event_id,omitempty" maxLength:"64" doc:"It becomes a story of its own, with all its items."`
	ItemID  string `json:"item_id,omitempty" maxLength:"64" doc:"It gets an event and a story of its own, and repeats nothing."`
}

// A Refusal says why what a person decided can't be done.
type Refusal struct{ Why string }

// Error returns why.
func (r *Refusal) Error() string { return r.Why }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

const (
	// handSchema is the first version that can say what persons decide of stories.
	handSchema = 3

	// handPatience is how long an answer waits until the store shows what was decided.
	handPatience = 5 * time.Second
)

// ErrOlderAgent says that what persons decide can't be said in a way that all
// agents understand.
var ErrOlderAgent = errors.New("an agent of an older version is in the mesh, which can't do this: update it, or stop it, and try again")

// notYet is the note of an answer that came before what was decided was done.
const notYet = "it is accepted, and will be done as soon as the cluster actor of its language comes to it; this is how it is now"

func (s *Server) storyHandRoutes(api huma.API) {
	split := op("POST", "/api/stories/{id}/split", "split-story", "Take an event or an item out of a story", 400, 404, 409, 422, 503)
	split.Description = "It stays apart whatever is found later. The answer is the story that it left."
	accepts[StoryView](api, &split)
	huma.Register(api, split, func(ctx context.Context, in *struct {
		ID   string `path:"id" maxLength:"64"`
		Body Splitting
	}) (*decided[StoryView], error) {
		if (in.Body.EventID == "") == (in.Body.ItemID == "") {
			return nil, huma.Error422UnprocessableEntity("name an event or an item, and not both", fault("body", "want event_id or item_id"))
		}
		story, err := s.SplitStory(ctx, in.ID, in.Body)
		return answerWith(s, story, story.Pending, err)
	})
	join := op("POST", "/api/stories/{id}/join", "join-stories", "Make two stories one", 400, 404, 409, 422, 503)
	join.Description = "They stay together whatever is found later. The larger one keeps its ID."
	accepts[StoryView](api, &join)
	huma.Register(api, join, func(ctx context.Context, in *struct {
		ID   string `path:"id" maxLength:"64"`
		Body struct {
			StoryID string `json:"story_id" minLength:"1" maxLength:"64"`
		}
	}) (*decided[StoryView], error) {
		story, err := s.JoinStories(ctx, in.ID, in.Body.StoryID)
		return answerWith(s, story, story.Pending, err)
	})
}

// decided is the answer to what a person decided: 200 if it is done, else 202.
type decided[T any] struct {
	Status int
	Body   T
}

func answerWith[T any](s *Server, view T, pending bool, err error) (*decided[T], error) {
	switch {
	case err != nil:
		return nil, s.problem(err)
	case pending:
		return &decided[T]{http.StatusAccepted, view}, nil
	}
	return &decided[T]{http.StatusOK, view}, nil
}

// accepts describes that an operation may answer 202, with a T too.
func accepts[T any](api huma.API, o *huma.Operation) {
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	o.Responses = map[string]*huma.Response{"202": {
		Description: "Accepted: it will be done, and is not yet", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
}

// SplitStory takes an event or an item out of a story, and returns what is left of
// it. What can't be done is a [*Refusal]. To do it again changes nothing.
func (s *Server) SplitStory(ctx context.Context, id string, what Splitting) (StoryView, error) {
	split := s.splitEvent
	if what.ItemID != "" {
		split = s.splitItem
	}
	pending, err := split(ctx, id, what.EventID+what.ItemID)
	if err != nil {
		return StoryView{}, err
	}
	return s.storyAfter(ctx, id, pending)
}

func (s *Server) splitEvent(ctx context.Context, id, event string) (pending bool, err error) {
	told, err := s.readStory(ctx, id, tell.MaxRead)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(told.Items, func(i storage.Item) bool { return i.EventID == event })
	switch {
	case told.Count == 0:
		return false, fmt.Errorf("story %s: %w", id, storage.ErrNotFound)
	case at < 0:
		is, err := s.isAlone(ctx, event)
		if err == nil && !is {
			err = fmt.Errorf("event %s in story %s: %w", event, id, storage.ErrNotFound)
		}
		return false, err
	case told.Events == 1:
		return false, refuse("event %s is all there is of this story: there is nothing to split", event)
	}
	return s.decide(ctx, told.Items[at].Lane, subjects.Hand{Do: subjects.SplitEvent, A: event, B: id}, s.hasLeft(told.Items[at].ID, id))
}

func (s *Server) splitItem(ctx context.Context, id, itemID string) (pending bool, err error) {
	item, err := s.Store.Item(ctx, itemID)
	if err != nil {
		return false, fmt.Errorf("item %s: %w", itemID, err)
	}
	told, err := s.readStory(ctx, item.StoryID, 1)
	if err != nil {
		return false, err
	}
	repeats, err := s.Store.Repeats(ctx, itemID, 1)
	switch {
	case err != nil:
		return false, fmt.Errorf("what repeats item %s: %w", itemID, err)
	case item.StoryID != id && told.Count == 1:
		return false, nil // done before
	case item.StoryID != id:
		return false, refuse("item %s belongs to story %s", itemID, item.StoryID)
	case told.Count == 1:
		return false, refuse("item %s is all there is of this story: there is nothing to split", itemID)
	case len(repeats) > 0:
		return false, refuse("others repeat item %s: split its event %s, or say of those first that they do not repeat it", itemID, item.EventID)
	}
	return s.decide(ctx, item.Lane, subjects.Hand{Do: subjects.SplitItem, A: itemID}, s.hasLeft(itemID, id))
}

// hasLeft returns what tells whether an item belongs to a story no more.
func (s *Server) hasLeft(itemID, storyID string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		item, err := s.Store.Item(ctx, itemID)
		return item.StoryID != storyID, err
	}
}

// isAlone reports whether an event has a story of its own, by the IDs that such a
// story may have.
func (s *Server) isAlone(ctx context.Context, event string) (bool, error) {
	for _, own := range storiesOf(event) {
		told, err := s.readStory(ctx, own, 1)
		if err != nil || told.Events == 1 && told.Items[0].EventID == event {
			return err == nil, err
		}
	}
	return false, nil
}

// storiesOf returns the IDs that a story may have that began with an event: the
// first, unless the story that it left has that one.
func storiesOf(event string) []string {
	first := storage.StoryID(event)
	return []string{first, storage.StoryID(event + "'"), storage.StoryID(first + "'")}
}

// JoinStories makes two stories one, and returns that. What can't be done is a
// [*Refusal]. To do it again changes nothing.
func (s *Server) JoinStories(ctx context.Context, id, other string) (StoryView, error) {
	if id == other {
		return StoryView{}, refuse("a story can't be joined with itself")
	}
	a, err := s.readStory(ctx, id, tell.MaxRead)
	if err != nil {
		return StoryView{}, err
	}
	b, err := s.readStory(ctx, other, tell.MaxRead)
	switch {
	case err != nil:
		return StoryView{}, err
	case a.Count > 0 && b.Count == 0 && hasPart(a, other):
		return s.Story(ctx, id)
	case b.Count > 0 && a.Count == 0 && hasPart(b, id):
		return s.Story(ctx, other)
	case a.Count == 0:
		return StoryView{}, fmt.Errorf("story %s: %w", id, storage.ErrNotFound)
	case b.Count == 0:
		return StoryView{}, fmt.Errorf("story %s: %w", other, storage.ErrNotFound)
	}
	mine, theirs := a.Items[0], b.Items[0]
	if mine.Lane != theirs.Lane {
		return StoryView{}, refuse("story %s is in language %s, this one in %s: stories of two languages can't be joined", other, theirs.Lane, mine.Lane)
	}
	now := id
	pending, err := s.decide(ctx, mine.Lane, subjects.Hand{Do: subjects.JoinStories, A: id, B: other}, func(ctx context.Context) (bool, error) {
		items, err := s.Store.Items(ctx, mine.ID, theirs.ID)
		if err != nil || len(items) < 2 {
			return false, err
		}
		now = items[0].StoryID
		return items[0].StoryID == items[1].StoryID, nil
	})
	if err != nil {
		return StoryView{}, err
	}
	return s.storyAfter(ctx, now, pending)
}

// hasPart reports whether a story was joined with this one, as far as that can be
// told: it has the event that the other began with.
func hasPart(of storage.Told, story string) bool {
	return slices.ContainsFunc(of.Items, func(i storage.Item) bool { return slices.Contains(storiesOf(i.EventID), story) })
}

// storyAfter returns a story as it is after a person decided something of it.
func (s *Server) storyAfter(ctx context.Context, id string, pending bool) (StoryView, error) {
	story, err := s.Story(ctx, id)
	if pending {
		story.Pending, story.Notes = true, append([]string{notYet}, story.Notes...)
	}
	return story, err
}

// decide has the cluster actor of a lane do what a person decided, and waits until
// the store shows it, or reports that this is pending still.
func (s *Server) decide(ctx context.Context, lane string, hand subjects.Hand, done func(ctx context.Context) (bool, error)) (pending bool, err error) {
	if s.Mesh.Schema(ctx) < handSchema {
		return false, ErrOlderAgent
	}
	hand.ID = nuid.Next()
	if err := subjects.Publish(ctx, s.Mesh, subjects.Clusters, subjects.Cluster{Lane: lane, Hand: &hand}); err != nil {
		return false, fmt.Errorf("%s: %w", hand.Do, err)
	}
	enough := time.NewTimer(s.patience)
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

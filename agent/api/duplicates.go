package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/tell"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Duplicates are the items that say the same.
type Duplicates struct {
	First   ItemBrief   `json:"first" doc:"The first of its kind."`
	Items   []ItemBrief `json:"items" doc:"Those that repeat it, the first seen first; five hundred at most."`
	Pending bool        `json:"pending,omitempty" doc:"What was decided is accepted, and not done yet."`
	Notes   []string    `json:"notes,omitempty" doc:"What is to be known of this answer, in words."`
}

// Related are the other items of an item's story, but for those that say the same.
type Related struct {
	Story storage.Story `json:"story"`
	Items []ItemBrief   `json:"items" doc:"First the newest of each publisher, then the others, newest first."`
}

const (
	maxDuplicates = 500

	// relatedItems is how many items of a story are looked at for related ones.
	relatedItems = 200
)

func (s *Server) duplicateRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/items/{id}/duplicates", "list-duplicates", "The first of an item's kind, and all that repeat it", 404, 503),
		func(ctx context.Context, in *byID) (*body[Duplicates], error) {
			found, err := s.Duplicates(ctx, in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[Duplicates]{Body: found}, nil
		})
	huma.Register(api, op("GET", "/api/items/{id}/related", "list-related", "Other items of an item's story, but for its duplicates", 404, 503), s.listRelated)
	huma.Register(api, op("GET", "/api/items/{id}/explain", "explain-items", "Do two items repeat one another, and are they one story? By what?", 404, 503), s.explainItems)
	repeat := op("PUT", "/api/items/{id}/duplicate", "repeat-item", "Say that an item repeats another one", 400, 404, 409, 422, 503)
	repeat.Description = "So does what repeats it, and all of them belong to the event of the other. It holds whatever is found later."
	accepts[Duplicates](api, &repeat)
	huma.Register(api, repeat, func(ctx context.Context, in *struct {
		ID   string `path:"id" maxLength:"64"`
		Body struct {
			Of string `json:"of" minLength:"1" maxLength:"64" doc:"ID of the item that it repeats."`
		}
	}) (*decided[Duplicates], error) {
		found, err := s.RepeatItem(ctx, in.ID, in.Body.Of)
		return answerWith(s, found, found.Pending, err)
	})
	differ := op("DELETE", "/api/items/{id}/duplicate", "differ-item", "Say that an item does not repeat what it is said to repeat", 404, 409, 503)
	differ.Description = "It stays in its event. It holds whatever is found later."
	accepts[Duplicates](api, &differ)
	huma.Register(api, differ, func(ctx context.Context, in *byID) (*decided[Duplicates], error) {
		found, err := s.DifferItem(ctx, in.ID)
		return answerWith(s, found, found.Pending, err)
	})
	click := op("POST", "/api/items/{id}/clicks", "click-item", "Count clicks of readers on an item", 400, 404, 422, 503)
	click.Description = "They raise the rank of its story."
	click.DefaultStatus = http.StatusNoContent
	huma.Register(api, click, func(ctx context.Context, in *struct {
		ID   string `path:"id" maxLength:"64"`
		Body struct {
			Count int `json:"count" minimum:"1" maximum:"100"`
		}
	}) (*struct{}, error) {
		if err := s.Store.Click(ctx, in.ID, in.Body.Count); err != nil {
			return nil, s.problem(fmt.Errorf("item %s: %w", in.ID, err))
		}
		return nil, nil
	})
}

// Duplicates returns the first of an item's kind, and what repeats it. It returns
// [storage.ErrNotFound] if there is no such item.
func (s *Server) Duplicates(ctx context.Context, id string) (Duplicates, error) {
	first, err := s.Store.Item(ctx, id)
	if err != nil {
		return Duplicates{}, fmt.Errorf("item %s: %w", id, err)
	}
	if first, err = s.firstOf(ctx, first); err != nil {
		return Duplicates{}, err
	}
	items, err := s.Store.Repeats(ctx, first.ID, maxDuplicates+1) // one more tells whether there are more
	if err != nil {
		return Duplicates{}, fmt.Errorf("what repeats item %s: %w", first.ID, err)
	}
	var found Duplicates
	if len(items) > maxDuplicates {
		items = items[:maxDuplicates]
		found.Notes = append(found.Notes, fmt.Sprintf("more than %d items repeat it; these are the first", maxDuplicates))
	}
	titles := s.titles(ctx)
	found.First, found.Items = briefOf(first, titles), briefsOf(items, titles)
	return found, nil
}

// firstOf returns the first of an item's kind: the item itself if it repeats
// nothing, or nothing that is there.
func (s *Server) firstOf(ctx context.Context, item storage.Item) (storage.Item, error) {
	if item.DuplicateOf == "" {
		return item, nil
	}
	first, err := s.Store.Item(ctx, item.DuplicateOf)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return item, nil
	case err != nil:
		return item, fmt.Errorf("item %s: %w", item.DuplicateOf, err)
	}
	return first, nil
}

func (s *Server) listRelated(ctx context.Context, in *struct {
	ID    string `path:"id" maxLength:"64"`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
}) (*body[Related], error) {
	related, err := s.Related(ctx, in.ID, in.Limit)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Related]{Body: related}, nil
}

// Related returns at most limit other items of an item's story, but for those of its
// kind. It returns [storage.ErrNotFound] if there is no such item.
func (s *Server) Related(ctx context.Context, id string, limit int) (Related, error) {
	item, err := s.Store.Item(ctx, id)
	if err != nil {
		return Related{}, fmt.Errorf("item %s: %w", id, err)
	}
	told, err := s.readStory(ctx, item.StoryID, relatedItems)
	if err != nil || told.Count == 0 {
		return Related{Items: []ItemBrief{}}, err
	}
	story, err := s.tell(ctx, item.StoryID, told)
	if err != nil {
		return Related{}, err
	}
	var newest, others []storage.Item
	seen := map[string]bool{tell.Publisher(item): true}
	for _, i := range told.Items {
		switch p := tell.Publisher(i); {
		case firstID(i) == firstID(item):
		case seen[p]:
			others = append(others, i)
		default:
			seen[p], newest = true, append(newest, i)
		}
	}
	related := append(newest, others...)
	return Related{Story: story, Items: briefsOf(related[:min(limit, len(related))], s.titles(ctx))}, nil
}

// RepeatItem has an item repeat another one, or what that repeats, and returns all
// of that kind. What can't be done is a [*Refusal]. To do it again changes nothing.
func (s *Server) RepeatItem(ctx context.Context, id, of string) (Duplicates, error) {
	if id == of {
		return Duplicates{}, refuse("an item can't repeat itself")
	}
	item, err := s.Store.Item(ctx, id)
	if err != nil {
		return Duplicates{}, fmt.Errorf("item %s: %w", id, err)
	}
	other, err := s.Store.Item(ctx, of)
	if err != nil {
		return Duplicates{}, fmt.Errorf("item %s: %w", of, err)
	}
	if other.DuplicateOf == id {
		return Duplicates{}, refuse("item %s repeats this one: say first that it does not", of)
	}
	first, err := s.firstOf(ctx, other)
	if err != nil {
		return Duplicates{}, err
	}
	if item.Lane != first.Lane {
		return Duplicates{}, refuse("item %s is among those in language %s, this one among those in %s: these are not compared", of, first.Lane, item.Lane)
	}
	repeats := func(i storage.Item) bool { return i.DuplicateOf == first.ID && i.DuplicateBy == byHand }
	if repeats(item) {
		return s.Duplicates(ctx, id)
	}
	return s.duplicatesAfter(ctx, item, subjects.Hand{Do: subjects.RepeatItem, A: of, B: id}, repeats)
}

// byHand is what DuplicateBy says where a person decided.
const byHand = "hand"

// DifferItem has an item repeat nothing, and returns all of its kind. What can't be
// done is a [*Refusal]. To do it again changes nothing.
func (s *Server) DifferItem(ctx context.Context, id string) (Duplicates, error) {
	item, err := s.Store.Item(ctx, id)
	switch {
	case err != nil:
		return Duplicates{}, fmt.Errorf("item %s: %w", id, err)
	case item.DuplicateOf == "" && item.DuplicateBy == byHand:
		return s.Duplicates(ctx, id) // done before
	case item.DuplicateOf == "":
		return Duplicates{}, refuse("item %s repeats nothing", id)
	}
	return s.duplicatesAfter(ctx, item, subjects.Hand{Do: subjects.DifferItem, A: id}, func(i storage.Item) bool { return i.DuplicateOf == "" })
}

// duplicatesAfter has what a person decided of an item done, and returns all of its
// kind.
func (s *Server) duplicatesAfter(ctx context.Context, item storage.Item, hand subjects.Hand, done func(storage.Item) bool) (Duplicates, error) {
	pending, err := s.decide(ctx, item.Lane, hand, func(ctx context.Context) (bool, error) {
		now, err := s.Store.Item(ctx, item.ID)
		return err == nil && done(now), err
	})
	if err != nil {
		return Duplicates{}, err
	}
	found, err := s.Duplicates(ctx, item.ID)
	if pending {
		found.Pending, found.Notes = true, slices.Insert(found.Notes, 0, notYet)
	}
	return found, err
}

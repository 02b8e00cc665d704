package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	maxDuplicates = 500

	// relatedItems is the number of items of a story that are read to find related items.
	relatedItems = 200
)

func (s *Server) duplicateRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/items/{id}/duplicates", "list-duplicates", "List the original of an item and its duplicates", 404, 503),
		func(ctx context.Context, in *byID) (*body[wire.Duplicates], error) {
			found, err := s.Duplicates(ctx, in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[wire.Duplicates]{Body: found}, nil
		})
	huma.Register(api, op("GET", "/api/items/{id}/related", "list-related", "Other items of an item's story, without duplicates", 404, 503), s.listRelated)
	huma.Register(api, op("GET", "/api/items/{id}/explain", "explain-items", "Compare two items: duplicates, same story, and why", 404, 503), s.explainItems)
	repeat := op("PUT", "/api/items/{id}/duplicate", "repeat-item", "Make an item a duplicate of another", 400, 404, 409, 422, 503)
	repeat.Description = "Its own duplicates move with it, and all join the event of the other item. Later classification does not change this."
	describeAccepted[wire.Duplicates](api, &repeat)
	huma.Register(api, repeat, func(ctx context.Context, in *struct {
		ID   string `path:"id" maxLength:"64"`
		Body struct {
			Of string `json:"of" minLength:"1" maxLength:"64" doc:"ID of the item that it repeats."`
		}
	}) (*editResponse[wire.Duplicates], error) {
		found, err := s.SetDuplicate(ctx, in.ID, in.Body.Of)
		return respondToEdit(s, found, found.Pending, err)
	})
	differ := op("DELETE", "/api/items/{id}/duplicate", "differ-item", "Make a duplicate an original again", 404, 409, 503)
	differ.Description = "It stays in its event. Later classification does not change this."
	describeAccepted[wire.Duplicates](api, &differ)
	huma.Register(api, differ, func(ctx context.Context, in *byID) (*editResponse[wire.Duplicates], error) {
		found, err := s.ClearDuplicate(ctx, in.ID)
		return respondToEdit(s, found, found.Pending, err)
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
		if err := s.Store.AddClicks(ctx, in.ID, in.Body.Count); err != nil {
			return nil, s.problem(fmt.Errorf("item %s: %w", in.ID, err))
		}
		return nil, nil
	})
}

// Duplicates returns the original of an item and its duplicates. It returns [storage.ErrNotFound] if the item
// does not exist.
func (s *Server) Duplicates(ctx context.Context, id string) (wire.Duplicates, error) {
	first, err := storage.ItemByID(ctx, s.Store, id)
	if err != nil {
		return wire.Duplicates{}, fmt.Errorf("item %s: %w", id, err)
	}
	if first, err = s.firstOf(ctx, first); err != nil {
		return wire.Duplicates{}, err
	}
	items, err := s.Store.Duplicates(ctx, first.ID, maxDuplicates+1) // one more than shown, to detect that more exist
	if err != nil {
		return wire.Duplicates{}, fmt.Errorf("read duplicates of item %s: %w", first.ID, err)
	}
	var found wire.Duplicates
	if len(items) > maxDuplicates {
		items = items[:maxDuplicates]
		found.Notes = append(found.Notes, fmt.Sprintf("it has more than %d duplicates; these are the first", maxDuplicates))
	}
	titles := s.titles(ctx)
	found.First, found.Items = briefOf(first, titles), briefsOf(items, titles)
	return found, nil
}

// firstOf returns the original of an item: the item itself if it is no duplicate, or of an item that was
// removed.
func (s *Server) firstOf(ctx context.Context, item storage.Item) (storage.Item, error) {
	if item.DuplicateOf == "" {
		return item, nil
	}
	first, err := storage.ItemByID(ctx, s.Store, item.DuplicateOf)
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
}) (*body[wire.Related], error) {
	related, err := s.Related(ctx, in.ID, in.Limit)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.Related]{Body: related}, nil
}

// Related returns at most limit other items of an item's story, without its duplicates. It returns
// [storage.ErrNotFound] if the item does not exist.
func (s *Server) Related(ctx context.Context, id string, limit int) (wire.Related, error) {
	item, err := storage.ItemByID(ctx, s.Store, id)
	if err != nil {
		return wire.Related{}, fmt.Errorf("item %s: %w", id, err)
	}
	stored, err := s.readStory(ctx, item.StoryID, relatedItems)
	if err != nil || stored.Count == 0 {
		return wire.Related{Items: []wire.ItemBrief{}}, err
	}
	story, err := s.summarize(ctx, item.StoryID, stored)
	if err != nil {
		return wire.Related{}, err
	}
	var newest, others []storage.Item
	seen := map[string]bool{placement.Publisher(item): true}
	for _, i := range stored.Items {
		switch p := placement.Publisher(i); {
		case firstID(i) == firstID(item):
		case seen[p]:
			others = append(others, i)
		default:
			seen[p], newest = true, append(newest, i)
		}
	}
	related := append(newest, others...)
	return wire.Related{Story: story, Items: briefsOf(related[:min(limit, len(related))], s.titles(ctx))}, nil
}

// SetDuplicate makes an item a duplicate of another item, or of that item's original, and returns the
// original with all duplicates. An impossible edit is a [*ConflictError]. The call is idempotent.
func (s *Server) SetDuplicate(ctx context.Context, id, of string) (wire.Duplicates, error) {
	if id == of {
		return wire.Duplicates{}, conflictf("an item can't be a duplicate of itself")
	}
	item, err := storage.ItemByID(ctx, s.Store, id)
	if err != nil {
		return wire.Duplicates{}, fmt.Errorf("item %s: %w", id, err)
	}
	other, err := storage.ItemByID(ctx, s.Store, of)
	if err != nil {
		return wire.Duplicates{}, fmt.Errorf("item %s: %w", of, err)
	}
	if other.DuplicateOf == id {
		return wire.Duplicates{}, conflictf("item %s is a duplicate of this one: make it an original first", of)
	}
	first, err := s.firstOf(ctx, other)
	if err != nil {
		return wire.Duplicates{}, err
	}
	if item.Partition != first.Partition {
		return wire.Duplicates{}, conflictf("item %s is in language %s, this one in %s: items of different languages are not compared", of, first.Partition, item.Partition)
	}
	repeats := func(i storage.Item) bool { return i.DuplicateOf == first.ID && i.DuplicateBy == sourceManual }
	if repeats(item) {
		return s.Duplicates(ctx, id)
	}
	return s.duplicatesAfter(ctx, item, subjects.Override{Kind: subjects.RepeatItem, A: of, B: id}, repeats)
}

// sourceManual is the value of DuplicateBy after a manual edit.
const sourceManual = "hand"

// ClearDuplicate makes an item an original and returns it with its duplicates. An impossible edit is a
// [*ConflictError]. The call is idempotent.
func (s *Server) ClearDuplicate(ctx context.Context, id string) (wire.Duplicates, error) {
	item, err := storage.ItemByID(ctx, s.Store, id)
	switch {
	case err != nil:
		return wire.Duplicates{}, fmt.Errorf("item %s: %w", id, err)
	case item.DuplicateOf == "" && item.DuplicateBy == sourceManual:
		return s.Duplicates(ctx, id) // done before
	case item.DuplicateOf == "":
		return wire.Duplicates{}, conflictf("item %s is not a duplicate", id)
	}
	return s.duplicatesAfter(ctx, item, subjects.Override{Kind: subjects.DifferItem, A: id}, func(i storage.Item) bool { return i.DuplicateOf == "" })
}

// duplicatesAfter applies a manual edit of an item and returns its duplicates.
func (s *Server) duplicatesAfter(ctx context.Context, item storage.Item, edit subjects.Override, done func(storage.Item) bool) (wire.Duplicates, error) {
	pending, err := s.applyEdit(ctx, item.Partition, edit, func(ctx context.Context) (bool, error) {
		now, err := storage.ItemByID(ctx, s.Store, item.ID)
		return err == nil && done(now), err
	})
	if err != nil {
		return wire.Duplicates{}, err
	}
	found, err := s.Duplicates(ctx, item.ID)
	if pending {
		found.Pending, found.Notes = true, slices.Insert(found.Notes, 0, pendingNote)
	}
	return found, err
}

package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

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
	if len(items) > MaxDuplicates {
		items = items[:MaxDuplicates]
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

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/cluster/placement"
	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// applyEdit applies a manual edit to the store, and to memory as far as its items are in the window. It is
// idempotent.
func (c *clusterer) applyEdit(ctx context.Context, edit subjects.Override) error {
	do := map[subjects.EditKind]func(context.Context, subjects.Override) error{
		subjects.SplitItem: c.splitItem, subjects.SplitEvent: c.splitEvent, subjects.JoinStories: c.joinStories,
		subjects.RepeatItem: c.repeatItem, subjects.DifferItem: c.differItem,
	}[edit.Kind]
	if do == nil {
		return mesh.Discard(fmt.Errorf("unknown manual edit %q", edit.Kind))
	}
	err := do(ctx, edit)
	if errors.Is(err, storage.ErrNotFound) {
		return mesh.Discard(fmt.Errorf("%s %s %s: %w", edit.Kind, edit.A, edit.B, err)) // its feed was removed meanwhile
	}
	if err != nil {
		return err
	}
	note, err := json.Marshal(manualEdits{Items: c.near.Overrides(), Events: c.stories.Overrides()})
	if err != nil {
		return err
	}
	c.pending.Name, c.pending.Note = c.editsNote(), note
	return c.rearrange(ctx)
}

// manualReason is the reason of placements made by users.
var manualReason = story.Reason{By: "hand"}

// splitItem gives an item an event and a story of its own, and removes its duplicate mark.
func (c *clusterer) splitItem(ctx context.Context, edit subjects.Override) error {
	item, err := storage.ItemByID(ctx, c.store, edit.A)
	if err != nil {
		return err
	}
	words := placement.StoryItem(item, text.PlainText(item.HTML))
	if item.DuplicateOf != "" {
		c.near.Split(item.DuplicateOf, item.ID)
	}
	belongs, err := c.stories.SplitItem(words)
	switch {
	case errors.Is(err, story.ErrNotFound):
		belongs = ownPlacement(item.ID)
		if belongs.EventID == item.EventID { // the event that it leaves began with it
			belongs = ownPlacement(item.ID + "'")
		}
	case errors.Is(err, story.ErrNothingToSplit):
	case err != nil:
		return err
	}
	belongs.Reason = manualReason
	placement.Apply(&item, near.Match{By: "hand", Score: 1, Reason: "split by hand"}, belongs)
	c.pending.Items = append(c.pending.Items, storage.PlacementOf(item))
	return nil
}

// splitEvent gives an event of story B a story of its own.
func (c *clusterer) splitEvent(_ context.Context, edit subjects.Override) error {
	err := c.stories.Split(edit.A)
	if !errors.Is(err, story.ErrNotFound) {
		if errors.Is(err, story.ErrNothingToSplit) {
			return nil
		}
		return err
	}
	newStory := storage.StoryID(edit.A)
	if newStory == edit.B {
		newStory = storage.StoryID(edit.A + "'") // the story that it leaves began with it
	}
	c.pending.Events = append(c.pending.Events, storage.EventMove{EventID: edit.A, StoryID: newStory})
	return nil
}

// joinStories merges story B into story A, or A into B if B is larger.
func (c *clusterer) joinStories(ctx context.Context, edit subjects.Override) error {
	a, err := storage.ItemsOfStory(ctx, c.store, edit.A, 1)
	if err != nil {
		return err
	}
	b, err := storage.ItemsOfStory(ctx, c.store, edit.B, placement.MaxItems)
	if errors.Is(err, storage.ErrNotFound) {
		return nil // done before
	}
	if err != nil {
		return err
	}
	err = c.stories.Join(a.Items[0].EventID, b.Items[0].EventID)
	if !errors.Is(err, story.ErrNotFound) {
		return err
	}
	for _, item := range b.Items {
		c.pending.Events = append(c.pending.Events, storage.EventMove{EventID: item.EventID, StoryID: edit.A})
	}
	return nil
}

// repeatItem marks item B and its duplicates as duplicates of item A, or of A's original, and moves them to
// its event.
func (c *clusterer) repeatItem(ctx context.Context, edit subjects.Override) error {
	first, err := storage.ItemByID(ctx, c.store, edit.A)
	if err == nil && first.DuplicateOf != "" {
		first, err = storage.ItemByID(ctx, c.store, first.DuplicateOf)
	}
	if err != nil {
		return err
	}
	item, err := storage.ItemByID(ctx, c.store, edit.B)
	if err != nil || item.ID == first.ID {
		return err
	}
	others, err := c.store.Duplicates(ctx, item.ID, placement.MaxItems)
	if err != nil {
		return err
	}
	c.near.Join(first.ID, item.ID)
	if err := c.stories.Join(first.EventID, item.EventID); err != nil && !errors.Is(err, story.ErrNotFound) {
		return err
	}
	repeats := near.Match{DuplicateOf: first.ID, By: "hand", Score: 1, Reason: "joined by hand"}
	for _, i := range append(others, item) {
		placement.Apply(&i, repeats, story.Placement{EventID: first.EventID, StoryID: first.StoryID, Reason: manualReason})
		c.pending.Items = append(c.pending.Items, storage.PlacementOf(i))
	}
	return nil
}

// differItem removes an item's duplicate mark without moving it.
func (c *clusterer) differItem(ctx context.Context, edit subjects.Override) error {
	item, err := storage.ItemByID(ctx, c.store, edit.A)
	if err != nil || item.DuplicateOf == "" {
		return err
	}
	c.near.Split(item.DuplicateOf, item.ID)
	p := storage.PlacementOf(item)
	p.DuplicateOf, p.DuplicateBy, p.DuplicateScore, p.DuplicateReason = "", "hand", 1, "split by hand"
	c.pending.Items = append(c.pending.Items, p)
	return nil
}

package role

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"feedmesh/agent/mesh"
	"feedmesh/agent/tell"
	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// doByHand does what a person decided: in memory, as far as what it is about is
// remembered, and in the store. To do it again changes nothing.
func (c *clusterer) doByHand(ctx context.Context, hand subjects.Hand) error {
	do := map[subjects.Doing]func(context.Context, subjects.Hand) error{
		subjects.SplitItem: c.splitItem, subjects.SplitEvent: c.splitEvent, subjects.JoinStories: c.joinStories,
		subjects.RepeatItem: c.repeatItem, subjects.DifferItem: c.differItem,
	}[hand.Do]
	if do == nil {
		return mesh.Drop(fmt.Errorf("nobody knows how to %s", hand.Do))
	}
	err := do(ctx, hand)
	if errors.Is(err, storage.ErrNotFound) {
		return mesh.Drop(fmt.Errorf("%s %s %s: %w", hand.Do, hand.A, hand.B, err)) // somebody removed its feed meanwhile
	}
	if err != nil {
		return err
	}
	note, err := json.Marshal(hands{Items: c.near.Hands(), Events: c.stories.Hands()})
	if err != nil {
		return err
	}
	c.undone.Name, c.undone.Note = c.handsNote(), note
	return c.rearrange(ctx)
}

// byHand says that a person said so.
var byHand = story.Why{By: "hand"}

// splitItem gives an item an event and a story of its own. It repeats nothing.
func (c *clusterer) splitItem(ctx context.Context, hand subjects.Hand) error {
	item, err := c.store.Item(ctx, hand.A)
	if err != nil {
		return err
	}
	words := tell.Item(item, text.Plain(item.HTML))
	if item.DuplicateOf != "" {
		c.near.Split(item.DuplicateOf, item.ID)
	}
	belongs, err := c.stories.SplitItem(words)
	switch {
	case errors.Is(err, story.ErrUnknown):
		belongs = alone(item.ID)
		if belongs.EventID == item.EventID { // the event that it leaves began with it
			belongs = alone(item.ID + "'")
		}
	case errors.Is(err, story.ErrAlone):
	case err != nil:
		return err
	}
	belongs.Why = byHand
	tell.Put(&item, near.Placed{By: "hand", Score: 1, Why: "split by hand"}, belongs)
	c.undone.Items = append(c.undone.Items, storage.PlacementOf(item))
	return nil
}

// splitEvent gives an event of story B a story of its own.
func (c *clusterer) splitEvent(_ context.Context, hand subjects.Hand) error {
	err := c.stories.Split(hand.A)
	if !errors.Is(err, story.ErrUnknown) {
		if errors.Is(err, story.ErrAlone) {
			return nil
		}
		return err
	}
	own := storage.StoryID(hand.A)
	if own == hand.B {
		own = storage.StoryID(hand.A + "'") // the story that it leaves began with it
	}
	c.undone.Events = append(c.undone.Events, storage.EventMove{EventID: hand.A, StoryID: own})
	return nil
}

// joinStories makes story B a part of story A, or the other way round if B is
// larger.
func (c *clusterer) joinStories(ctx context.Context, hand subjects.Hand) error {
	a, err := c.store.ReadStory(ctx, hand.A, 1)
	if err != nil {
		return err
	}
	b, err := c.store.ReadStory(ctx, hand.B, tell.MaxRead)
	if errors.Is(err, storage.ErrNotFound) {
		return nil // done before
	}
	if err != nil {
		return err
	}
	err = c.stories.Join(a.Items[0].EventID, b.Items[0].EventID)
	if !errors.Is(err, story.ErrUnknown) {
		return err
	}
	for _, item := range b.Items {
		c.undone.Events = append(c.undone.Events, storage.EventMove{EventID: item.EventID, StoryID: hand.A})
	}
	return nil
}

// repeatItem has item B repeat item A, or what that repeats, and belong to its
// event; and with it what repeated B.
func (c *clusterer) repeatItem(ctx context.Context, hand subjects.Hand) error {
	first, err := c.store.Item(ctx, hand.A)
	if err == nil && first.DuplicateOf != "" {
		first, err = c.store.Item(ctx, first.DuplicateOf)
	}
	if err != nil {
		return err
	}
	item, err := c.store.Item(ctx, hand.B)
	if err != nil || item.ID == first.ID {
		return err
	}
	others, err := c.store.Repeats(ctx, item.ID, tell.MaxRead)
	if err != nil {
		return err
	}
	c.near.Join(first.ID, item.ID)
	if err := c.stories.Join(first.EventID, item.EventID); err != nil && !errors.Is(err, story.ErrUnknown) {
		return err
	}
	repeats := near.Placed{Of: first.ID, By: "hand", Score: 1, Why: "joined by hand"}
	for _, i := range append(others, item) {
		tell.Put(&i, repeats, story.Placement{EventID: first.EventID, StoryID: first.StoryID, Why: byHand})
		c.undone.Items = append(c.undone.Items, storage.PlacementOf(i))
	}
	return nil
}

// differItem has an item repeat nothing, though it stays where it belongs.
func (c *clusterer) differItem(ctx context.Context, hand subjects.Hand) error {
	item, err := c.store.Item(ctx, hand.A)
	if err != nil || item.DuplicateOf == "" {
		return err
	}
	c.near.Split(item.DuplicateOf, item.ID)
	p := storage.PlacementOf(item)
	p.DuplicateOf, p.DuplicateBy, p.DuplicateScore, p.DuplicateWhy = "", "hand", 1, "split by hand"
	c.undone.Items = append(c.undone.Items, p)
	return nil
}

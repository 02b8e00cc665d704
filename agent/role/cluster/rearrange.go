package cluster

import (
	"context"
	"fmt"

	"feedmesh/classify/story"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// rearrange merges and splits stories that are due, and publishes the changes to the store and the index.
// Changes that the store can't take now are kept in order for the next call.
func (c *clusterer) rearrange(ctx context.Context) error {
	now := c.clock.Now()
	for _, change := range append(c.stories.Tick(now), c.archive.Tick(now)...) {
		if change.Kind == story.Expired {
			continue // from memory; the store keeps it
		}
		if change.Kind == story.Merged {
			c.pending.Joins = append(c.pending.Joins, storage.StoryJoin{StoryID: change.Story, Into: change.Into})
		}
		for _, event := range change.Events {
			c.pending.Events = append(c.pending.Events, storage.EventMove{EventID: event, StoryID: change.Into})
		}
	}
	if len(c.pending.Events) == 0 && len(c.pending.Items) == 0 && c.pending.Name == "" {
		return nil
	}
	c.pending.Fence = c.fence
	changed, err := c.store.Rearrange(ctx, c.pending)
	if err != nil {
		return fmt.Errorf("move %d events between stories: %w", len(c.pending.Events), err)
	}
	c.pending = storage.Rearrangement{}
	if len(changed) == 0 {
		return nil
	}
	// The number makes the task's ID unique: the same items may be moved again soon.
	c.rearranged++
	return subjects.PublishChanged(ctx, c.out, fmt.Sprintf("moved %s %d.%d", c.partition, c.fence.Number, c.rearranged), changed, false)
}

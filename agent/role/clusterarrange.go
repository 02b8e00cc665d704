package role

import (
	"context"
	"fmt"

	"feedmesh/classify/story"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// rearrange has stories merge and split where it is time to, and the store and the
// index know. What they can't be told now they are told the next time, in order.
func (c *clusterer) rearrange(ctx context.Context) error {
	for _, change := range c.stories.Tick(c.clock.Now()) {
		if change.Kind == story.Expired {
			continue // from memory, not from the store
		}
		for _, event := range change.Events {
			c.undone.Events = append(c.undone.Events, storage.EventMove{EventID: event, StoryID: change.Into})
		}
	}
	if len(c.undone.Events) == 0 && len(c.undone.Items) == 0 && c.undone.Name == "" {
		return nil
	}
	c.undone.Fence = c.fence
	changed, err := c.store.Rearrange(ctx, c.undone)
	if err != nil {
		return fmt.Errorf("move %d events between stories: %w", len(c.undone.Events), err)
	}
	c.undone = storage.Rearrangement{}
	if len(changed) == 0 {
		return nil
	}
	// A name of its own: the same items may be moved again soon, which is another task.
	c.told++
	return subjects.PublishIndex(ctx, c.out, fmt.Sprintf("moved %s %d.%d", c.lane, c.fence.Number, c.told), changed)
}

package service

import (
	"context"
	"fmt"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Items answers requests about items.
type Items struct{ *core }

// Get returns one item with its text.
func (i *Items) Get(ctx context.Context, in wire.ByID) (wire.ItemView, error) {
	item, err := storage.ItemByID(ctx, i.Store, in.ID)
	if err != nil {
		return wire.ItemView{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	return i.viewOf(ctx, item), nil
}

// Click counts clicks of readers on an item. They raise the rank of its story.
func (i *Items) Click(ctx context.Context, in wire.ClickItemRequest) (wire.None, error) {
	if err := i.Store.AddClicks(ctx, in.ID, in.Body.Count); err != nil {
		return wire.None{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	return wire.None{}, nil
}

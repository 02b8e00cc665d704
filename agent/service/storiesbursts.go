package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Bursts returns the bursts with the most items.
func (s *Stories) Bursts(ctx context.Context, in wire.ListBurstsRequest) (wire.Bursts, error) {
	note, err := storage.Notes(s.Store).Read(ctx, placement.BurstsNote)
	if err != nil {
		return wire.Bursts{}, fmt.Errorf("read what bursts: %w", err)
	}
	var all []placement.Burst
	if len(note) > 0 {
		if err := json.Unmarshal(note, &all); err != nil {
			return wire.Bursts{}, fmt.Errorf("read what bursts: %w", err)
		}
	}
	all = slices.DeleteFunc(all, func(b placement.Burst) bool { return in.Of != "" && b.Of != in.Of })
	slices.SortStableFunc(all, func(a, b placement.Burst) int { return cmp.Compare(b.Items, a.Items) })
	bursts := wire.Bursts{Bursts: []wire.Burst{}, Total: len(all)}
	for _, b := range all[:min(in.Limit, len(all))] {
		burst := wire.Burst{Of: b.Of, Name: b.Name, Since: b.Since, Items: b.Items}
		if b.Of == "story" {
			story, err := storage.StoryByID(ctx, s.Store, b.Name)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return wire.Bursts{}, fmt.Errorf("read story %s: %w", b.Name, err)
			}
			burst.Title = story.Title
		}
		bursts.Bursts = append(bursts.Bursts, burst)
	}
	return bursts, nil
}

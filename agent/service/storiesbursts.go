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

func (s *Server) listBursts(ctx context.Context, in *struct {
	Of    string `query:"of" enum:"story,category,topic" doc:"Only these."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
}) (*body[wire.Bursts], error) {
	bursts, err := s.Bursts(ctx, in.Of, in.Limit)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.Bursts]{Body: bursts}, nil
}

// Bursts returns at most limit bursts, only those of stories, categories or topics unless of is empty.
func (s *Server) Bursts(ctx context.Context, of string, limit int) (wire.Bursts, error) {
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
	all = slices.DeleteFunc(all, func(b placement.Burst) bool { return of != "" && b.Of != of })
	slices.SortStableFunc(all, func(a, b placement.Burst) int { return cmp.Compare(b.Items, a.Items) })
	bursts := wire.Bursts{Bursts: []wire.Burst{}, Total: len(all)}
	for _, b := range all[:min(limit, len(all))] {
		burst := wire.Burst{Burst: b}
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

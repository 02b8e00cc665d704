package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/storage"
)

// Bursts are the current bursts.
type Bursts struct {
	Bursts []Burst `json:"bursts" doc:"Most items first."`
	Total  int     `json:"total" doc:"Number of items."`
}

// A Burst is a story, category or topic with more new items than usual.
type Burst struct {
	placement.Burst
	Title string `json:"title,omitempty" doc:"Of a story."`
}

func (s *Server) listBursts(ctx context.Context, in *struct {
	Of    string `query:"of" enum:"story,category,topic" doc:"Only these."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
}) (*body[Bursts], error) {
	bursts, err := s.Bursts(ctx, in.Of, in.Limit)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Bursts]{Body: bursts}, nil
}

// Bursts returns at most limit bursts, only those of stories, categories or topics unless of is empty.
func (s *Server) Bursts(ctx context.Context, of string, limit int) (Bursts, error) {
	note, err := s.Store.Note(ctx, placement.BurstsNote)
	if err != nil {
		return Bursts{}, fmt.Errorf("read what bursts: %w", err)
	}
	var all []placement.Burst
	if len(note) > 0 {
		if err := json.Unmarshal(note, &all); err != nil {
			return Bursts{}, fmt.Errorf("read what bursts: %w", err)
		}
	}
	all = slices.DeleteFunc(all, func(b placement.Burst) bool { return of != "" && b.Of != of })
	slices.SortStableFunc(all, func(a, b placement.Burst) int { return cmp.Compare(b.Items, a.Items) })
	bursts := Bursts{Bursts: []Burst{}, Total: len(all)}
	for _, b := range all[:min(limit, len(all))] {
		burst := Burst{Burst: b}
		if b.Of == "story" {
			story, err := s.Store.Story(ctx, b.Name)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return Bursts{}, fmt.Errorf("read story %s: %w", b.Name, err)
			}
			burst.Title = story.Title
		}
		bursts.Bursts = append(bursts.Bursts, burst)
	}
	return bursts, nil
}

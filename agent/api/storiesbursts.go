package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"feedmesh/agent/tell"
	"feedmesh/storage"
)

// Bursts are what items come of more often than they used to.
type Bursts struct {
	Bursts []Burst `json:"bursts" doc:"Those with most items first."`
	Total  int     `json:"total" doc:"How many there are."`
}

// A Burst is a story, category or topic that items come of more often than they
// used to.
type Burst struct {
	tell.Burst
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

// Bursts returns at most limit of what bursts: of stories, categories or topics only,
// unless of is empty.
func (s *Server) Bursts(ctx context.Context, of string, limit int) (Bursts, error) {
	note, err := s.Store.Note(ctx, tell.BurstsNote)
	if err != nil {
		return Bursts{}, fmt.Errorf("read what bursts: %w", err)
	}
	var all []tell.Burst
	if len(note) > 0 {
		if err := json.Unmarshal(note, &all); err != nil {
			return Bursts{}, fmt.Errorf("read what bursts: %w", err)
		}
	}
	all = slices.DeleteFunc(all, func(b tell.Burst) bool { return of != "" && b.Of != of })
	slices.SortStableFunc(all, func(a, b tell.Burst) int { return cmp.Compare(b.Items, a.Items) })
	bursts := Bursts{Bursts: []Burst{}, Total: len(all)}
	for _, b := range all[:min(limit, len(all))] {
		burst := Burst{Burst: b}
		if b.Of == "story" {
			story, err := s.Store.Story(ctx, b.Name)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return Bursts{}, fmt.Errorf("what is told of story %s: %w", b.Name, err)
			}
			burst.Title = story.Title
		}
		bursts.Bursts = append(bursts.Bursts, burst)
	}
	return bursts, nil
}

package console

import (
	"context"
	"sync"
	"time"

	"feedmesh/agent/api"
	"feedmesh/subjects"
)

// A statusSource says how the mesh is.
type statusSource interface {
	Status(ctx context.Context) (api.Status, error)
}

// A standing is how the mesh was of late. Every page tells of it, and asking is
// dear, so it is asked at most once in a while, be the answer an error.
type standing struct {
	mu     sync.Mutex
	taken  time.Time
	status api.Status
	err    error
}

const (
	standingAge      = 2 * time.Second
	standingPatience = 2 * time.Second
)

func (s *standing) get(ctx context.Context, source Source, now time.Time) (api.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken.IsZero() || now.Sub(s.taken) >= standingAge {
		// The answer is for the next page too, so it must not end with this one.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), standingPatience)
		defer cancel()
		s.status, s.err = source.Status(ctx)
		s.taken = now
	}
	return s.status, s.err
}

// A footer says in a line how the mesh is.
type footer struct {
	Feeds, Items, Indexed int64
	Waiting, Quarantined  int64
	Version               string
}

func foot(s api.Status) *footer {
	f := &footer{Feeds: s.Feeds.Known, Items: s.Items, Indexed: s.Indexed, Version: s.Version}
	for _, q := range s.Queues {
		if q.Queue == subjects.QuarantineStream {
			f.Quarantined += int64(q.Tasks)
		} else {
			f.Waiting += int64(q.Tasks)
		}
	}
	return f
}

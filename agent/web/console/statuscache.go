package console

import (
	"context"
	"sync"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// A statusSource provides the status of the mesh.
type statusSource interface {
	Status(ctx context.Context) (wire.Status, error)
}

// statusCache caches the mesh status, or the error, for statusMaxAge. Every page shows it and computing it is
// expensive. The lock is held during a request, so concurrent pages share its result.
type statusCache struct {
	mu     sync.Mutex
	taken  time.Time
	status wire.Status
	err    error
}

const (
	statusMaxAge  = 2 * time.Second
	statusTimeout = 2 * time.Second
)

func (s *statusCache) get(ctx context.Context, source Source, now time.Time) (wire.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken.IsZero() || now.Sub(s.taken) >= statusMaxAge {
		// The result is cached for other pages, so the request is not cancelled with this one.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statusTimeout)
		defer cancel()
		s.status, s.err = source.Status(ctx)
		s.taken = now
	}
	return s.status, s.err
}

// A footer is the one-line status of the mesh.
type footer struct {
	Feeds, Items, Indexed int64
	Waiting, Quarantined  int64
	Version               string
}

func newFooter(s wire.Status) *footer {
	f := &footer{Feeds: s.Feeds.Stored, Items: s.Items, Indexed: s.Indexed, Version: s.Version}
	for _, q := range s.Queues {
		if q.Queue == subjects.QuarantineStream {
			f.Quarantined += int64(q.Tasks)
		} else {
			f.Waiting += int64(q.Tasks)
		}
	}
	return f
}

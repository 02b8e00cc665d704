package postgres

import (
	"fmt"
	"sync"
	"time"

	"feedmesh/storage"
)

// damaged adds the remedy to an error of a damaged page, and returns other errors unchanged. PostgreSQL finds damage
// where it reads a page: of tables and indexes with data checksums any, without them that of a page's header.
func damaged(err error) error {
	switch code(err) {
	case "XX001":
		return fmt.Errorf("the store is %w: stop the agents, keep the server's files, use an intact replica or restore a backup into an empty database with agent restore: %w", storage.ErrDamaged, err)
	case "XX002":
		return fmt.Errorf("an index of the store is %w: run REINDEX DATABASE, then restart the server: %w", storage.ErrDamaged, err)
	}
	return err
}

// A damage is the first error of a damaged page since a start of the server. Its methods may be called concurrently.
type damage struct {
	mu      sync.Mutex
	err     error
	started time.Time // of the server; zero: not read yet
}

func (d *damage) record(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
	}
}

// found returns the recorded error, and forgets that of a server that was started at another time: it was repaired or
// replaced, or its next error is recorded.
func (d *damage) found(started time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil && d.started.IsZero() {
		d.started = started
	}
	if !d.started.Equal(started) {
		d.err, d.started = nil, time.Time{}
	}
	return d.err
}

package storage

import (
	"context"
	"io"
)

// A Store stores feeds, items and everything derived from them. Its methods may be called concurrently, and
// return ctx's error if ctx ends. Times are UTC with microsecond precision. Texts are UTF-8; U+0000 in them
// may be lost. A limit of 0 or less returns nothing.
type Store interface {
	Feeds
	Items
	Fences
	Records
	Spam
	Relabeling
	Corrections
	Stories
	Activities
	Marks
	Members
	Deliveries
	Serials
	Retention

	// ID returns the store's random identifier. It was chosen when the store was created, and is the same for
	// all processes that share the store.
	ID(ctx context.Context) (string, error)

	// Changed returns a channel that is closed after the next commit of this process that changes something, so that work need not be
	// polled for. Changes by other processes may be missing. It returns nil if other processes usually write to the store.
	Changed() <-chan struct{}

	io.Closer
}

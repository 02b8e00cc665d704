// Package storage defines the records of feedmesh (feeds, items, stories) and the two interfaces that store
// and find them. [Store] is the source of truth. [Index] is a search index that can be rebuilt from the Store
// at any time. Each engine has a subfolder, and every engine passes the contracts in storagetest.
package storage

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound reports that no record has the given ID.
var ErrNotFound = errors.New("not found")

// ErrFenced reports that a write was rejected because its fence is older than the newest fence of the same
// name: a newer writer has taken over.
var ErrFenced = errors.New("fence is outdated: a newer writer has taken over")

// ErrConflict reports that the record changed since the caller read it. Nothing was written. Read it again
// before a retry.
var ErrConflict = errors.New("changed by another writer in the meantime")

// ErrUnavailable reports that an engine currently fails every call: it is unreachable, starting, or out of
// disk space. A retry may succeed.
var ErrUnavailable = errors.New("unavailable")

// ErrNoEmbedder reports a semantic search in an index that has no embedder.
var ErrNoEmbedder = errors.New("the search index has no embedder for semantic searches: it needs Meilisearch and --search-embedder")

// ErrDamaged reports that the engine's files are damaged: their checksums or their structure are wrong. A retry
// fails again until a person acts.
var ErrDamaged = errors.New("damaged")

// StampReader lists the versions of stored items. [Store] and [Index] both implement it, so that their
// contents can be compared. Items are grouped by the UTC day of FirstSeen, which never changes.
type StampReader interface {
	// Days returns the number of items of each day with items. The key is the start of the day.
	Days(ctx context.Context) (map[time.Time]int64, error)

	// Stamps returns at most limit stamps of a day's items with IDs after the given ID, in ascending order of
	// ID.
	Stamps(ctx context.Context, day time.Time, after string, limit int) ([]Stamp, error)
}

// A Stamp identifies one version of an item.
type Stamp struct {
	ID      string
	Changed time.Time // see [Item]
}

// Day returns the start of the UTC day of t.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Fences is the part of a [Store] that rejects writes of replaced writers.
type Fences interface {
	// NextFence returns a fence newer than all earlier fences of the given name. From then on, writes under
	// those return [ErrFenced].
	NextFence(ctx context.Context, name string) (Fence, error)
}

// A Fence is the right to write under a name until a newer fence is issued.
type Fence struct {
	Name   string `json:"name,omitempty"`
	Number int64  `json:"number,omitempty"` // from 1
}

package storage

import (
	"context"
	"time"
)

// MaxImports is the maximum number of imports in a [Store].
const MaxImports = 100

// Imports is the part of a [Store] that stores imports of feed lists.
type Imports interface {
	// PutImport stores the import, replacing an import with the same ID, and deletes all but the newest
	// [MaxImports]. A stored Cancel is kept, unless Started differs, which restarts the import.
	PutImport(ctx context.Context, imp Import) error

	// CancelImport sets only an import's Cancel, which stops the worker that runs it. It returns
	// [ErrNotFound] if the import does not exist.
	CancelImport(ctx context.Context, id string) error

	// Import returns the import with the given ID, or [ErrNotFound].
	Import(ctx context.Context, id string) (Import, error)

	// ListImports returns at most limit imports without their Lines, newest Started first, then by ID.
	ListImports(ctx context.Context, limit int) ([]Import, error)
}

// An Import is the progress of importing a list of feeds.
type Import struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"` // of the file
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"` // zero while it runs
	Cancel   bool      `json:"cancel,omitempty"`  // a user requested cancellation

	Total    int `json:"total"` // feeds in the list
	Done     int `json:"done"`  // feeds processed
	Added    int `json:"added"` // of Done, like Existing and Invalid
	Existing int `json:"known"`
	Invalid  int `json:"invalid"`

	Lines []byte `json:"-"` // result of each line, in the importer's own format
}

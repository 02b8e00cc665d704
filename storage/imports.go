package storage

import (
	"context"
	"time"
)

// MaxImports is how many imports a [Store] remembers.
const MaxImports = 100

// Imports is the part of a [Store] that remembers imports.
type Imports interface {
	// PutImport stores the import in place of any with its ID, and forgets all
	// but the newest [MaxImports]. A Cancel that the store has stays, unless the
	// import is begun anew: with another Started.
	PutImport(ctx context.Context, imp Import) error

	// CancelImport sets an import's Cancel, for whoever works on it to see, and
	// nothing else. It returns [ErrNotFound] if there is no such import.
	CancelImport(ctx context.Context, id string) error

	// Import returns the import with the given ID, or [ErrNotFound].
	Import(ctx context.Context, id string) (Import, error)

	// ListImports returns at most limit imports without their Lines, newest
	// Started first, then by ID.
	ListImports(ctx context.Context, limit int) ([]Import, error)
}

// An Import is a list of feeds that is being taken in.
type Import struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"` // of the file
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"` // zero until it is
	Cancel   bool      `json:"cancel,omitempty"`  // a person wants it to end

	Total   int `json:"total"` // feeds listed
	Done    int `json:"done"`  // of Total, so far
	Added   int `json:"added"` // of Done, as are the next two
	Known   int `json:"known"`
	Invalid int `json:"invalid"`

	Lines []byte `json:"-"` // what became of each line, as its user writes it
}

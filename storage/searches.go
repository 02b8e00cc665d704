package storage

import (
	"context"
	"time"
)

// MaxSearches is how many searches are kept.
const MaxSearches = 1000

// SavedSearches is the part of a [Store] that remembers what persons search for
// again and again.
type SavedSearches interface {
	// SavedSearches returns all saved searches, ordered by name.
	SavedSearches(ctx context.Context) ([]SavedSearch, error)

	// PutSearch stores the search in place of any with its name. Where there are
	// [MaxSearches] others it is refused with [ErrTooMany].
	PutSearch(ctx context.Context, search SavedSearch) error

	// RemoveSearch forgets the search with the given name. It returns
	// [ErrNotFound] if there is none.
	RemoveSearch(ctx context.Context, name string) error
}

// A SavedSearch is a search with a name.
type SavedSearch struct {
	Name  string    `json:"name"`            // for addresses: lower-case letters, digits and hyphens
	Title string    `json:"title,omitempty"` // for people
	Query string    `json:"query"`           // as an address has it after its question mark
	Added time.Time `json:"added"`
}

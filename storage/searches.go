package storage

import (
	"context"
	"time"
)

// MaxSearches is the maximum number of saved searches.
const MaxSearches = 1000

// SavedSearches is the part of a [Store] that stores searches that users have named.
type SavedSearches interface {
	// SavedSearches returns all saved searches, ordered by name.
	SavedSearches(ctx context.Context) ([]SavedSearch, error)

	// PutSearch stores the search, replacing a search with the same name. If [MaxSearches] others are stored,
	// it returns [ErrTooMany].
	PutSearch(ctx context.Context, search SavedSearch) error

	// RemoveSearch deletes the search with the given name, or returns [ErrNotFound].
	RemoveSearch(ctx context.Context, name string) error
}

// A SavedSearch is a search with a name.
type SavedSearch struct {
	Name  string    `json:"name"`            // for URLs: lower-case letters, digits and hyphens
	Title string    `json:"title,omitempty"` // display name
	Query string    `json:"query"`           // URL query string, without the question mark
	Added time.Time `json:"added"`
}

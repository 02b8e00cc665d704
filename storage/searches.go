package storage

import (
	"context"
	"time"
)

// MaxSearches is the maximum number of saved searches that earlier versions stored.
const MaxSearches = 1000

// A SavedSearch is a search with a name, stored by an earlier version, whose searches are views now.
type SavedSearch struct {
	Name  string    `json:"name"`            // for URLs: lower-case letters, digits and hyphens
	Title string    `json:"title,omitempty"` // display name
	Query string    `json:"query"`           // URL query string, without the question mark
	Added time.Time `json:"added"`
}

var searchTable = tableOf(Table{Name: "searches", Keys: 1, Order: "name", Max: MaxSearches}, func(s *SavedSearch) []Column {
	return []Column{
		{Name: "name", Field: &s.Name}, {Name: "title", Field: &s.Title}, {Name: "query", Field: &s.Query}, {Name: "added", Field: &s.Added},
	}
})

// SavedSearches returns the searches of a [Store] that earlier versions saved.
func SavedSearches(of Records) SearchRecords { return SearchRecords{of} }

// SearchRecords are the searches of a [Store] that earlier versions saved.
type SearchRecords struct{ records Records }

// List returns all saved searches, ordered by name.
func (s SearchRecords) List(ctx context.Context) ([]SavedSearch, error) {
	return listRecords[SavedSearch](ctx, s.records, searchTable, allRecords)
}

// Put stores the search, replacing a search with the same name. If [MaxSearches] others are stored, it
// returns [ErrTooMany].
func (s SearchRecords) Put(ctx context.Context, search SavedSearch) error {
	return putRecord(ctx, s.records, searchTable, search, search.Name)
}

// Remove deletes the search with the given name, or returns [ErrNotFound].
func (s SearchRecords) Remove(ctx context.Context, name string) error {
	return removeRecord[SavedSearch](ctx, s.records, searchTable, name)
}

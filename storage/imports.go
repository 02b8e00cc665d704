package storage

import (
	"context"
	"time"
)

// MaxImports is the maximum number of imports in a [Store].
const MaxImports = 100

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

var importTable = tableOf(Table{Name: "imports", Keys: 1, Order: "started DESC, id", Keep: MaxImports}, func(i *Import) []Column {
	return []Column{
		{Name: "id", Field: &i.ID}, {Name: "name", Field: &i.Name}, {Name: "started", Field: &i.Started},
		{Name: "finished", Field: &i.Finished, Nullable: true}, {Name: "cancel", Field: &i.Cancel},
		{Name: "total", Field: &i.Total}, {Name: "done", Field: &i.Done}, {Name: "added", Field: &i.Added},
		{Name: "known", Field: &i.Existing}, {Name: "invalid", Field: &i.Invalid}, {Name: "lines", Field: &i.Lines, Large: true},
	}
})

// Imports returns the imports of feed lists of a [Store].
func Imports(of Records) ImportRecords { return ImportRecords{of} }

// ImportRecords are the imports of feed lists of a [Store].
type ImportRecords struct{ records Records }

// Put stores the import, replacing an import with the same ID, and deletes all but the newest [MaxImports]. A
// stored Cancel is kept, unless Started differs, which restarts the import.
func (i ImportRecords) Put(ctx context.Context, imp Import) error {
	return changeRecord(ctx, i.records, importTable, func(stored *Import) (*Import, error) {
		put := imp
		put.Cancel = put.Cancel || stored != nil && stored.Cancel && stored.Started.UnixMicro() == put.Started.UnixMicro()
		return &put, nil
	}, imp.ID)
}

// Cancel sets only an import's Cancel, which stops the worker that runs it. It returns [ErrNotFound] if the
// import does not exist.
func (i ImportRecords) Cancel(ctx context.Context, id string) error {
	return changeRecord(ctx, i.records, importTable, func(stored *Import) (*Import, error) {
		if stored == nil {
			return nil, ErrNotFound
		}
		stored.Cancel = true
		return stored, nil
	}, id)
}

// Read returns the import with the given ID, or [ErrNotFound].
func (i ImportRecords) Read(ctx context.Context, id string) (Import, error) {
	return readRecord[Import](ctx, i.records, importTable, id)
}

// List returns at most limit imports without their Lines, newest Started first, then by ID.
func (i ImportRecords) List(ctx context.Context, limit int) ([]Import, error) {
	return listRecords[Import](ctx, i.records, importTable, limit)
}

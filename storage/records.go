package storage

import (
	"context"
	"errors"
	"math"
)

// ErrTooMany reports that a [Store] already contains the maximum number of such records.
var ErrTooMany = errors.New("too many")

// ErrTooLarge reports that a text exceeds the size limit of a [Store].
var ErrTooLarge = errors.New("too large")

// Records is the part of a [Store] that stores small tables of named records. Callers use the functions of
// each table: [Proxies], [Tokens], [People], [Sessions], [Passkeys], [PersonTokens], [FeverKeys], [Annotations], [Follows], [Visits],
// [Interests], [Imports], [RuleSets], [Jobs], [SavedSearches], [Views], [Subscriptions] and [Notes].
type Records interface {
	// ReadRecords returns the records that match the query, in the order of the table, as pointers to the
	// table's type.
	ReadRecords(ctx context.Context, table *Table, query RecordQuery) ([]any, error)

	// ChangeRecord reads one record and stores what change.Apply makes of it, in one transaction that
	// excludes other writers of the table. It returns the error of Apply, [ErrTooMany] if the table is full,
	// and [ErrFenced] under an outdated fence; then nothing is changed.
	ChangeRecord(ctx context.Context, table *Table, change RecordChange) error
}

// A RecordQuery selects records of a [Table].
type RecordQuery struct {
	Key   []any // values of the first key columns; empty: all records
	Limit int   // maximum number of records
	Whole bool  // with the columns that are Large
}

// A RecordChange changes one record of a [Table].
type RecordChange struct {
	Key   []any // values of the first key columns
	Fence Fence // the zero Fence is not checked

	// Apply returns the record to store, nil for none. stored is the first record with the key in the order
	// of the table, nil if there is none. A nil result deletes stored; the unchanged stored writes nothing.
	// Apply may run again after a conflict of transactions.
	Apply func(stored any) (record any, err error)
}

// A Table describes the table of one type of record. Engines derive their statements from it.
type Table struct {
	Name  string
	Keys  int    // the first Keys columns identify a record
	Order string // columns by which records are ordered, in SQL
	Max   int    // maximum number of records; another is rejected with [ErrTooMany]; 0: no limit
	Per   int    // Max is the maximum for each value of the first Per key columns; 0: of the table
	Keep  int    // a new record deletes all but the first Keep records that differ only in the last key column; 0: keeps all

	Owned string // "table.column" of rows that are deleted with the record with that key; empty: none

	New     func() any                // returns a pointer to an empty record
	Columns func(record any) []Column // of the record behind the pointer
}

// A Column is a column of a table and the field of a record that it stores.
type Column struct {
	Name     string
	Field    any  // pointer to the field
	Nullable bool // the zero time is NULL; empty lists and bytes always are
	Large    bool // not read by lists
}

// tableOf completes the description of the table with records of type T.
func tableOf[T any](t Table, columns func(*T) []Column) *Table {
	t.New = func() any { return new(T) }
	t.Columns = func(record any) []Column { return columns(record.(*T)) }
	return &t
}

// allRecords is the limit of lists of all records.
const allRecords = math.MaxInt32

func listRecords[T any](ctx context.Context, from Records, table *Table, limit int, key ...any) ([]T, error) {
	found, err := from.ReadRecords(ctx, table, RecordQuery{Key: key, Limit: limit})
	if err != nil {
		return nil, err
	}
	var records []T
	for _, record := range found {
		records = append(records, *record.(*T))
	}
	return records, nil
}

// readRecord returns the first record with the key, or [ErrNotFound].
func readRecord[T any](ctx context.Context, from Records, table *Table, key ...any) (record T, err error) {
	found, err := from.ReadRecords(ctx, table, RecordQuery{Key: key, Limit: 1, Whole: true})
	switch {
	case err != nil:
		return record, err
	case len(found) == 0:
		return record, ErrNotFound
	}
	return *found[0].(*T), nil
}

func changeRecord[T any](ctx context.Context, to Records, table *Table, apply func(stored *T) (*T, error), key ...any) error {
	return to.ChangeRecord(ctx, table, RecordChange{Key: key, Apply: func(stored any) (any, error) {
		old, _ := stored.(*T)
		record, err := apply(old)
		if record == nil || err != nil {
			return nil, err
		}
		return record, nil
	}})
}

// putRecord stores the record, replacing the record with the key.
func putRecord[T any](ctx context.Context, to Records, table *Table, record T, key ...any) error {
	return changeRecord(ctx, to, table, func(*T) (*T, error) { return &record, nil }, key...)
}

// removeRecord deletes the record with the key, or returns [ErrNotFound].
func removeRecord[T any](ctx context.Context, from Records, table *Table, key ...any) error {
	return changeRecord(ctx, from, table, func(stored *T) (*T, error) {
		if stored == nil {
			return nil, ErrNotFound
		}
		return nil, nil
	}, key...)
}

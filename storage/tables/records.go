// Package tables contains the parts of SQL that all engines of [storage.Store] share: statements derived from
// the descriptions of tables, and the transactions on [storage.Records]. Parameters are written ?1, ?2.
package tables

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"feedmesh/storage"
)

// A Querier runs queries of one engine, in a transaction or outside.
type Querier interface {
	// Query calls row for each row of the result. scan copies the row's values to the fields that the
	// pointers refer to.
	Query(ctx context.Context, statement string, args []any, row func(scan func(columns []storage.Column) error) error) error
}

// A Tx is a transaction of one engine.
type Tx interface {
	Querier

	Exec(ctx context.Context, statement string, args ...any) error

	// Value returns the stored form of a field.
	Value(column storage.Column) any
}

// Read implements [storage.Records.ReadRecords].
func Read(ctx context.Context, on Querier, t *storage.Table, q storage.RecordQuery) (records []any, err error) {
	args := append(append([]any{}, q.Key...), max(q.Limit, 0))
	statement := fmt.Sprintf(`SELECT %s FROM %s%s ORDER BY %s LIMIT ?%d`,
		strings.Join(columnNames(t, q.Whole), ", "), t.Name, withKey(t, len(q.Key)), t.Order, len(args))
	err = on.Query(ctx, statement, args, func(scan func([]storage.Column) error) error {
		record := t.New()
		records = append(records, record)
		return scan(columnsOf(t, record, q.Whole))
	})
	return records, err
}

// Change implements [storage.Records.ChangeRecord] in a transaction that excludes other writers of the table,
// and under a valid fence.
func Change(ctx context.Context, tx Tx, t *storage.Table, c storage.RecordChange) error {
	found, err := Read(ctx, tx, t, storage.RecordQuery{Key: c.Key, Limit: 1, Whole: true})
	if err != nil {
		return err
	}
	var stored any
	var before []any
	if len(found) > 0 {
		stored, before = found[0], values(tx, t, found[0])
	}
	record, err := c.Apply(stored)
	switch {
	case err != nil, record == nil && stored == nil:
		return err
	case record == nil:
		if table, column, owns := strings.Cut(t.Owned, "."); owns {
			if err := tx.Exec(ctx, fmt.Sprintf(`DELETE FROM %s WHERE %s = ?1`, table, column), before[t.Keys-1]); err != nil {
				return err
			}
		}
		return tx.Exec(ctx, `DELETE FROM `+t.Name+withKey(t, t.Keys), before[:t.Keys]...)
	}
	after := values(tx, t, record)
	if stored != nil && reflect.DeepEqual(before, after) {
		return nil
	}
	added := stored == nil || !reflect.DeepEqual(before[:t.Keys], after[:t.Keys])
	if added && t.Max > 0 {
		if err := checkRoom(ctx, tx, t, after[:t.Per]); err != nil {
			return err
		}
	}
	if err := tx.Exec(ctx, upsert(t), after...); err != nil || !added || t.Keep == 0 {
		return err
	}
	return deleteOld(ctx, tx, t, after[:t.Keys-1])
}

// checkRoom returns [storage.ErrTooMany] if the table has as many records with the leading key columns as it may.
func checkRoom(ctx context.Context, tx Tx, t *storage.Table, key []any) error {
	var n int
	err := tx.Query(ctx, `SELECT count(*) FROM `+t.Name+withKey(t, len(key)), key, func(scan func([]storage.Column) error) error {
		return scan([]storage.Column{{Field: &n}})
	})
	if err == nil && n >= t.Max {
		return storage.ErrTooMany
	}
	return err
}

// deleteOld deletes all but the first t.Keep records with the leading key columns, and the rows that they own.
func deleteOld(ctx context.Context, tx Tx, t *storage.Table, key []any) error {
	last := columnNames(t, true)[t.Keys-1]
	args := append(append([]any{}, key...), t.Keep)
	old := fmt.Sprintf(`SELECT %s FROM %s%s ORDER BY %s LIMIT 9223372036854775807 OFFSET ?%d`,
		last, t.Name, withKey(t, len(key)), t.Order, len(args))
	if table, column, owns := strings.Cut(t.Owned, "."); owns {
		if err := tx.Exec(ctx, fmt.Sprintf(`DELETE FROM %s WHERE %s IN (%s)`, table, column, old), args...); err != nil {
			return err
		}
	}
	where := withKey(t, len(key))
	if where == "" {
		where = " WHERE true"
	}
	return tx.Exec(ctx, fmt.Sprintf(`DELETE FROM %s%s AND %s IN (%s)`, t.Name, where, last, old), args...)
}

// upsert returns the statement that stores a record under its key.
func upsert(t *storage.Table) string {
	names := columnNames(t, true)
	var parameters, updates []string
	for i, name := range names {
		parameters = append(parameters, fmt.Sprint("?", i+1))
		if i >= t.Keys {
			updates = append(updates, name+" = excluded."+name)
		}
	}
	return fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET %s`, t.Name,
		strings.Join(names, ", "), strings.Join(parameters, ", "), strings.Join(names[:t.Keys], ", "), strings.Join(updates, ", "))
}

// withKey returns the condition that the first n columns have the values of the parameters ?1 to ?n.
func withKey(t *storage.Table, n int) string {
	var terms []string
	for i, name := range columnNames(t, true)[:n] {
		terms = append(terms, fmt.Sprintf("%s = ?%d", name, i+1))
	}
	if len(terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(terms, " AND ")
}

// columnsOf returns the columns of the record, those that are Large only if whole.
func columnsOf(t *storage.Table, record any, whole bool) (columns []storage.Column) {
	for _, column := range t.Columns(record) {
		if whole || !column.Large {
			columns = append(columns, column)
		}
	}
	return columns
}

func columnNames(t *storage.Table, whole bool) (names []string) {
	for _, column := range columnsOf(t, t.New(), whole) {
		names = append(names, column.Name)
	}
	return names
}

// values returns the stored form of the record.
func values(tx Tx, t *storage.Table, record any) (values []any) {
	for _, column := range t.Columns(record) {
		values = append(values, tx.Value(column))
	}
	return values
}

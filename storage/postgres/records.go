package postgres

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
	"feedmesh/storage/tables"
)

// ReadRecords implements [storage.Records].
func (s recordStore) ReadRecords(ctx context.Context, t *storage.Table, q storage.RecordQuery) (records []any, err error) {
	err = s.do(ctx, "read "+t.Name, func(ctx context.Context) (err error) {
		records, err = tables.Read(ctx, recordQuerier{s.pool}, t, q)
		return err
	})
	return records, err
}

// ChangeRecord implements [storage.Records].
func (s recordStore) ChangeRecord(ctx context.Context, t *storage.Table, c storage.RecordChange) error {
	return s.transaction(ctx, "change "+t.Name, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockFenceShared(ctx, tx, c.Fence); err != nil {
			return err
		}
		// The lock also excludes writers of older program versions. A row lock would not exclude the addition
		// of another record.
		if _, err := tx.Exec(ctx, `LOCK TABLE `+t.Name+` IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		return tables.Change(ctx, recordTx{recordQuerier{tx}, tx}, t, c)
	})
}

// A recordQuerier is a [tables.Querier] on a connection.
type recordQuerier struct{ on querier }

// Query implements [tables.Querier].
func (q recordQuerier) Query(ctx context.Context, statement string, args []any, row func(func([]storage.Column) error) error) error {
	rows, err := q.on.Query(ctx, placeholders(statement), clean(args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(func(columns []storage.Column) error { return rows.Scan(destinationsOf(columns)...) }); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A recordTx is a [tables.Tx].
type recordTx struct {
	recordQuerier
	tx pgx.Tx
}

// Exec implements [tables.Tx].
func (tx recordTx) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := tx.tx.Exec(ctx, placeholders(statement), args...)
	return err
}

// placeholders returns the statement with placeholders of PostgreSQL.
func placeholders(statement string) string { return strings.ReplaceAll(statement, "?", "$") }

// Value implements [tables.Tx].
func (tx recordTx) Value(c storage.Column) any { return columnValue(c) }

// columnValue returns the stored form of a column's field.
func columnValue(c storage.Column) any {
	switch field := c.Field.(type) {
	case *string:
		return cleanText(*field)
	case *bool:
		return *field
	case *int:
		return *field
	case *int64:
		return *field
	case *float64:
		return *field
	case *time.Time:
		if c.Nullable && field.IsZero() {
			return nil
		}
		return micro(*field)
	case *[]byte:
		if len(*field) == 0 {
			return nil
		}
		return *field
	case *[]string:
		if len(*field) == 0 {
			return nil
		}
		return *listOrNull(*field)
	}
	list := reflect.ValueOf(c.Field).Elem() // of another type than string
	if list.Len() == 0 {
		return nil
	}
	return *cleanJSON(list.Interface())
}

// destinationsOf returns the destinations of a row's columns.
func destinationsOf(columns []storage.Column) []any {
	to := make([]any, len(columns))
	for i, c := range columns {
		to[i] = c.Field
		if field, is := c.Field.(*time.Time); is {
			to[i] = nullTime{field}
		}
	}
	return to
}

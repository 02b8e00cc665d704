package sqlite

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/tables"
)

// ReadRecords implements [storage.Records].
func (s recordStore) ReadRecords(ctx context.Context, t *storage.Table, q storage.RecordQuery) ([]any, error) {
	records, err := tables.Read(ctx, recordTx{s.read}, t, q)
	return records, s.wrap(ctx, "read "+t.Name, err)
}

// ChangeRecord implements [storage.Records].
func (s recordStore) ChangeRecord(ctx context.Context, t *storage.Table, c storage.RecordChange) error {
	return s.transaction(ctx, "change "+t.Name, func(w *writer) error {
		if err := checkFence(ctx, w, c.Fence); err != nil {
			return err
		}
		return tables.Change(ctx, recordTx{&w.statements}, t, c)
	})
}

// A recordTx is a [tables.Tx] on a connection.
type recordTx struct{ on *statements }

// Query implements [tables.Querier].
func (tx recordTx) Query(ctx context.Context, statement string, args []any, row func(func([]storage.Column) error) error) error {
	rows, err := tx.on.rows(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(func(columns []storage.Column) error { return rows.Scan(destinations(columns)...) }); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Exec implements [tables.Tx].
func (tx recordTx) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := tx.on.exec(ctx, statement, args...)
	return err
}

// Value implements [tables.Tx].
func (tx recordTx) Value(c storage.Column) any { return columnValue(c) }

// columnValue returns the stored form of a column's field.
func columnValue(c storage.Column) any {
	switch field := c.Field.(type) {
	case *string:
		return *field
	case *bool:
		return *field
	case *int:
		return *field
	case *int64:
		return *field
	case *float64:
		return *field
	case *time.Time:
		if c.Nullable {
			return microsOrNull(*field)
		}
		return micros(*field)
	case *[]byte:
		if len(*field) == 0 {
			return nil
		}
		return *field
	case *[]string:
		return listOrNull(*field)
	}
	list := reflect.ValueOf(c.Field).Elem() // of another type than string
	if list.Len() == 0 {
		return nil
	}
	return asJSON(list.Interface())
}

// A listField scans the JSON of a list of any type; NULL is the empty list.
type listField struct{ to any }

// Scan implements [sql.Scanner].
func (l listField) Scan(value any) error {
	reflect.ValueOf(l.to).Elem().SetZero()
	if text, is := value.(string); is {
		return json.Unmarshal([]byte(text), l.to)
	}
	return nil
}

// destinations returns the destinations of a row's columns.
func destinations(columns []storage.Column) []any {
	to := make([]any, len(columns))
	for i, c := range columns {
		switch field := c.Field.(type) {
		case *time.Time:
			to[i] = nullTime{field}
		case *[]string:
			to[i] = fromJSON(field)
		case *string, *bool, *int, *int64, *float64, *[]byte:
			to[i] = field
		default:
			to[i] = listField{field}
		}
	}
	return to
}

package postgres

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/tables"
)

// nextChanged is the new value of an item's column changed. It differs from the previous value even if the
// server's clock goes backwards.
const nextChanged = `greatest(clock_timestamp(), items.changed + interval '1 microsecond')`

// putItems stores a batch of any number of items in one statement: each argument is a column of values.
// Stored items keep their placement.
var putItems = `
	INSERT INTO items (feed, changed, ` + tables.ItemNames("", true) + `)
	SELECT $1, clock_timestamp(), ` + newItemValues() + `
	FROM unnest(` + newItemTypes() + `) AS new (` + tables.ItemNames("", true) + `)
	LEFT JOIN moved_events moved ON moved.event_id = new.event_id AND new.event_id <> ''
	ORDER BY id -- as in all transactions that write items of one feed, to prevent deadlocks
	ON CONFLICT (id) DO UPDATE SET ` + tables.ItemUpdates() + `, changed = ` + nextChanged + `
	RETURNING id, story_id`

// newItemValues returns the values of the rows to store.
func newItemValues() string {
	var values []string
	for _, c := range storage.ItemColumns(&storage.Item{}) {
		value := "new." + c.Name
		switch {
		case c.Name == "story_id":
			value = "coalesce(moved.story_id, new.story_id)"
		case isList(c.Column):
			value += "::jsonb"
		}
		values = append(values, value)
	}
	return strings.Join(values, ", ")
}

// newItemTypes returns the parameters of unnest with their types.
func newItemTypes() string {
	var parameters []string
	for n, c := range storage.ItemColumns(&storage.Item{}) {
		name := "text"
		switch c.Field.(type) {
		case *bool:
			name = "boolean"
		case *int:
			name = "integer"
		case *float64:
			name = "float8"
		case *time.Time:
			name = "timestamptz"
		}
		parameters = append(parameters, fmt.Sprintf("$%d::%s[]", n+2, name))
	}
	return strings.Join(parameters, ", ")
}

// itemColumns returns the arguments of putItems.
func itemColumns(feed int32, items []storage.Item) []any {
	rows := make([][]storage.ItemColumn, len(items))
	for n := range items {
		rows[n] = storage.ItemColumns(&items[n])
	}
	args := []any{feed}
	for n := range rows[0] {
		args = append(args, columnOf(rows, n))
	}
	return args
}

// columnOf returns the values of one column as an array that pgx can send.
func columnOf(rows [][]storage.ItemColumn, n int) any {
	switch rows[0][n].Field.(type) {
	case *string:
		return column(rows, func(row []storage.ItemColumn) string { return *row[n].Field.(*string) })
	case *bool:
		return column(rows, func(row []storage.ItemColumn) bool { return *row[n].Field.(*bool) })
	case *int:
		return column(rows, func(row []storage.ItemColumn) int32 { return int32(*row[n].Field.(*int)) })
	case *float64:
		return column(rows, func(row []storage.ItemColumn) float64 { return *row[n].Field.(*float64) })
	case *time.Time:
		return column(rows, func(row []storage.ItemColumn) *time.Time {
			at := row[n].Field.(*time.Time)
			if row[n].Nullable {
				return timeOrNull(*at)
			}
			return at
		})
	}
	return column(rows, func(row []storage.ItemColumn) *string {
		if json, is := columnValue(row[n].Column).(string); is {
			return &json
		}
		return nil
	})
}

// isList reports whether the column is stored as JSON.
func isList(c storage.Column) bool { return reflect.TypeOf(c.Field).Elem().Kind() == reflect.Slice }

// column returns one field of each row.
func column[Row, Value any](rows []Row, value func(Row) Value) []Value {
	all := make([]Value, len(rows))
	for i, row := range rows {
		all[i] = value(row)
	}
	return all
}

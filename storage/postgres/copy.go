package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage/tables"
)

// derived are the tables and columns that no other engine has. Values that are not generated are made of the other
// columns of a row when it is imported.
var derived = map[string]func(i *importer, value func(column string) any) any{
	"feedmesh_steps": nil,
	"items.day":      nil,
	"store.needs":    func(i *importer, _ func(string) any) any { return i.needs },
	"untold.due":     func(*importer, func(string) any) any { return time.Now() },
	"stories.listed_under": func(_ *importer, value func(string) any) any {
		lane, _ := value("lane").(string)
		return slices.Concat(indexKeys("lane", lane), indexKeys("category", words(value("categories"))...), indexKeys("topic", words(value("topics"))...))
	},
}

// words decodes a list stored as JSON.
func words(list any) (all []string) {
	text, _ := list.(string)
	_ = json.Unmarshal([]byte(text), &all) // an unreadable list has no words, as elsewhere
	return all
}

// A copiedColumn is a column that is copied between engines.
type copiedColumn struct{ Name, Type string }

// copiedTables returns the columns of the tables that are copied between engines, ordered by table.
func copiedTables(ctx context.Context, tx pgx.Tx) (names []string, columns map[string][]copiedColumn, err error) {
	columns = map[string][]copiedColumn{}
	rows, err := tx.Query(ctx, `
		SELECT c.relname, a.attname, format_type(a.atttypid, NULL)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
			AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY c.relname, a.attnum`)
	if err != nil {
		return nil, nil, err
	}
	var table string
	var column copiedColumn
	_, err = pgx.ForEachRow(rows, []any{&table, &column.Name, &column.Type}, func() error {
		_, whole := derived[table]
		_, one := derived[table+"."+column.Name]
		if whole || one {
			return nil
		}
		if len(columns[table]) == 0 {
			names = append(names, table)
		}
		columns[table] = append(columns[table], column)
		return nil
	})
	return names, columns, err
}

// unlimited lifts the limits of statements for a transaction that copies all tables.
const unlimited = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`

// Export calls each for every table that is copied between engines, as all of them are at one moment.
func (s *Store) Export(ctx context.Context, each func(tables.Copy) error) error {
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, unlimited); err != nil {
			return err
		}
		names, columns, err := copiedTables(ctx, tx)
		if err != nil {
			return err
		}
		for _, name := range names {
			t := tables.Copy{Name: name, Rows: exportRows(ctx, tx, name, columns[name])}
			for _, c := range columns[name] {
				t.Columns = append(t.Columns, c.Name)
			}
			if err := each(t); err != nil {
				return err
			}
		}
		return nil
	})
	return s.wrap(ctx, "export all tables", err)
}

// Size returns the size of the database in bytes, with its indexes.
func (s *Store) Size(ctx context.Context) (int64, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "read the size", func(ctx context.Context, tx pgx.Tx) (int64, error) {
		return one(ctx, tx, pgx.RowTo[int64], `SELECT pg_database_size(current_database())`)
	})
}

// exportRows returns the rows of a table in the form of [tables.Copy]. The server sends them as they are read.
func exportRows(ctx context.Context, tx pgx.Tx, table string, columns []copiedColumn) iter.Seq2[[]any, error] {
	var values []string
	for _, c := range columns {
		switch c.Type {
		case "timestamp with time zone":
			values = append(values, `(extract(epoch FROM `+c.Name+`) * 1000000)::bigint`)
		case "boolean":
			values = append(values, c.Name+`::integer::bigint`)
		case "integer":
			values = append(values, c.Name+`::bigint`)
		case "json", "jsonb":
			values = append(values, c.Name+`::text`)
		default:
			values = append(values, c.Name)
		}
	}
	return func(yield func([]any, error) bool) {
		rows, err := tx.Query(ctx, `SELECT `+strings.Join(values, ", ")+` FROM `+table)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			row, err := rows.Values()
			for i, c := range columns {
				if err == nil && row[i] != nil && strings.HasPrefix(c.Type, "json") {
					row[i], err = compactJSON(row[i].(string))
				}
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

func compactJSON(text string) (string, error) {
	var b bytes.Buffer
	err := json.Compact(&b, []byte(text))
	return b.String(), err
}

// ErrNotEmpty reports that a store has rows already.
var ErrNotEmpty = errors.New("the database is not empty: restore into an empty one")

// Import fills an empty store with the tables that read passes on, all or none of them. It returns [ErrNotEmpty] if
// the store is not empty, and an error if it lacks a table or column.
func (s *Store) Import(ctx context.Context, read func(context.Context, func(tables.Copy) error) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		i := &importer{tx: tx}
		if err := i.begin(ctx); err != nil {
			return err
		}
		if err := read(ctx, func(t tables.Copy) error { return i.fill(ctx, t) }); err != nil {
			return err
		}
		return i.end(ctx)
	})
	return s.wrap(ctx, "import all tables", err)
}

// An importer fills the tables in one transaction.
type importer struct {
	tx      pgx.Tx
	columns map[string][]copiedColumn
	needs   int32 // schema version that programs must support
}

// begin locks the tables, checks that they are empty, and stops the triggers, which would derive what is copied.
func (i *importer) begin(ctx context.Context) (err error) {
	if _, err := i.tx.Exec(ctx, unlimited); err != nil {
		return err
	}
	names, columns, err := copiedTables(ctx, i.tx)
	if err != nil {
		return err
	}
	i.columns = columns
	for _, name := range names {
		var full bool
		if err := i.tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM `+name+`)`).Scan(&full); err != nil {
			return err
		}
		if full && name != "store" {
			return fmt.Errorf("%w (table %s has rows)", ErrNotEmpty, name)
		}
	}
	if _, err := i.tx.Exec(ctx, `ALTER TABLE items DISABLE TRIGGER USER`); err != nil {
		return err
	}
	return i.tx.QueryRow(ctx, `DELETE FROM store RETURNING needs`).Scan(&i.needs)
}

func (i *importer) end(ctx context.Context) error {
	_, err := i.tx.Exec(ctx, `
		ALTER TABLE items ENABLE TRIGGER USER;
		SELECT setval(pg_get_serial_sequence('feeds', 'num'), coalesce(max(num), 1), count(*) > 0) FROM feeds;
		SELECT setval(pg_get_serial_sequence('untold', 'mark'), coalesce(max(mark), 1), count(*) > 0) FROM untold;
		SELECT setval(pg_get_serial_sequence('serials', 'serial'), coalesce(max(serial), 1), count(*) > 0) FROM serials`)
	return err
}

// fill copies the rows of a table.
func (i *importer) fill(ctx context.Context, t tables.Copy) error {
	types := map[string]string{}
	for _, c := range i.columns[t.Name] {
		types[c.Name] = c.Type
	}
	columns := slices.Clone(t.Columns)
	for _, c := range columns {
		if types[c] == "" {
			return fmt.Errorf("this program does not know %s of table %s: use the version that made the backup", c, t.Name)
		}
	}
	var made []func(*importer, func(string) any) any
	for name, value := range derived {
		if table, column, _ := strings.Cut(name, "."); table == t.Name && value != nil {
			columns, made = append(columns, column), append(made, value)
		}
	}
	next, stop := iter.Pull2(t.Rows)
	defer stop()
	_, err := i.tx.CopyFrom(ctx, pgx.Identifier{t.Name}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		row, err, more := next()
		if err != nil || !more {
			return nil, err
		}
		values := make([]any, 0, len(columns))
		for n, name := range t.Columns {
			values = append(values, importValue(types[name], row[n]))
		}
		value := func(column string) any { return row[slices.Index(t.Columns, column)] }
		if n := slices.Index(t.Columns, "changed"); t.Name == "items" && values[n] == nil {
			values[n] = importValue(types["changed"], value("first_seen")) // as old SQLite stores mean it
		}
		for _, derive := range made {
			values = append(values, derive(i, value))
		}
		return values, nil
	}))
	if err != nil {
		return fmt.Errorf("table %s: %w", t.Name, err)
	}
	return nil
}

// importValue returns the value of a [tables.Copy] in the form of a column.
func importValue(columnType string, value any) any {
	switch v := value.(type) {
	case int64:
		switch columnType {
		case "timestamp with time zone":
			return time.UnixMicro(v).UTC()
		case "boolean":
			return v != 0
		}
	case string:
		if strings.HasPrefix(columnType, "json") {
			return cleanJSONText(cleanText(v))
		}
		return cleanText(v)
	}
	return value
}

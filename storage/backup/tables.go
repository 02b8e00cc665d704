package backup

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"feedmesh/storage/tables"
)

// derived are the tables and columns of a SQLite store that no other engine has: other columns contain what they do.
var derived = []string{
	"items.num", "stories.num", // only order the rows
	"event_stories", // of items
	"feed_tags",     // of feeds; triggers fill it
}

// fillDerived fills the derived tables of a store.
const fillDerived = `INSERT INTO event_stories (event_id, story_id) SELECT DISTINCT event_id, story_id FROM items WHERE event_id <> ''`

// storeTables returns the names of the tables of a store.
func storeTables(ctx context.Context, conn *sql.Conn) ([]string, error) {
	return texts(ctx, conn, `
		SELECT name FROM sqlite_schema
		WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT IN ('backup', 'backup_values') ORDER BY name`)
}

// copiedColumns returns the columns of a table that are copied between engines, none if the table is not.
func copiedColumns(ctx context.Context, conn *sql.Conn, table string) ([]string, error) {
	if slices.Contains(derived, table) {
		return nil, nil
	}
	columns, err := texts(ctx, conn, `SELECT name FROM pragma_table_info(?) ORDER BY cid`, table)
	return slices.DeleteFunc(columns, func(c string) bool { return slices.Contains(derived, table+"."+c) }), err
}

func texts(ctx context.Context, conn *sql.Conn, query string, args ...any) (all []string, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// readTables calls each for every table that is copied between engines.
func readTables(ctx context.Context, conn *sql.Conn, each func(tables.Copy) error) error {
	names, err := storeTables(ctx, conn)
	if err != nil {
		return err
	}
	for _, name := range names {
		columns, err := copiedColumns(ctx, conn, name)
		if err == nil && len(columns) > 0 {
			err = each(tables.Copy{Name: name, Columns: columns, Rows: func(yield func([]any, error) bool) {
				readRows(ctx, conn, `SELECT `+strings.Join(columns, ", ")+` FROM `+name, len(columns), yield)
			}})
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return nil
}

func readRows(ctx context.Context, conn *sql.Conn, query string, width int, yield func([]any, error) bool) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		yield(nil, err)
		return
	}
	defer rows.Close()
	row, fields := make([]any, width), make([]any, width)
	for i := range row {
		fields[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			yield(nil, err)
			return
		}
		if !yield(row, nil) {
			return
		}
	}
	if err := rows.Err(); err != nil {
		yield(nil, err)
	}
}

// fillTables writes the tables of another engine to an empty store. Indexes are made last: that takes a fraction of
// the time of keeping them.
func fillTables(ctx context.Context, conn *sql.Conn, read func(context.Context, func(tables.Copy) error) error, checkSpace func() error) error {
	if _, err := conn.ExecContext(ctx, `PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN; DELETE FROM store`); err != nil {
		return err
	}
	indexes, err := texts(ctx, conn, `SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`)
	if err != nil {
		return err
	}
	names, err := texts(ctx, conn, `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := conn.ExecContext(ctx, `DROP INDEX `+name); err != nil {
			return err
		}
	}
	err = read(ctx, func(t tables.Copy) error {
		if err := fillTable(ctx, conn, t, checkSpace); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, statement := range append(indexes, fillDerived, `COMMIT`) {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// spaceEvery is the number of rows between checks of the free space.
const spaceEvery = 1000

func fillTable(ctx context.Context, conn *sql.Conn, t tables.Copy, checkSpace func() error) error {
	parameters := strings.TrimSuffix(strings.Repeat("?, ", len(t.Columns)), ", ")
	insert, err := conn.PrepareContext(ctx, fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, t.Name, strings.Join(t.Columns, ", "), parameters))
	if err != nil {
		return err
	}
	defer insert.Close()
	n := 0
	for row, err := range t.Rows {
		if err == nil && n%spaceEvery == 0 {
			err = checkSpace()
		}
		if err == nil {
			_, err = insert.ExecContext(ctx, row...)
		}
		if err != nil {
			return err
		}
		n++
	}
	return nil
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage/backup"
	"feedmesh/storage/storagetest"
	"feedmesh/storage/tables"
)

// sampleRows returns rows for all columns of a table, the last with NULL where that is allowed.
func sampleRows(t *testing.T, s *Store, table string, columns []copiedColumn) tables.Copy {
	t.Helper()
	sample := tables.Copy{Name: table}
	nullable := map[string]bool{}
	for _, c := range columns {
		sample.Columns = append(sample.Columns, c.Name)
		var null bool
		err := s.pool.QueryRow(t.Context(), `SELECT NOT attnotnull FROM pg_attribute WHERE attrelid = $1::regclass AND attname = $2`, table, c.Name).Scan(&null)
		if err != nil {
			t.Fatal(err)
		}
		nullable[c.Name] = null
	}
	rows := 4
	if table == "store" {
		rows = 1
	}
	sample.Rows = func(yield func([]any, error) bool) {
		for i := range rows {
			var row []any
			for _, c := range columns {
				row = append(row, sampleValue(t, c, i))
				if nullable[c.Name] && i == rows-1 {
					row[len(row)-1] = nil
				}
			}
			if !yield(row, nil) {
				return
			}
		}
	}
	return sample
}

func sampleValue(t *testing.T, c copiedColumn, row int) any {
	t.Helper()
	switch c.Type {
	case "timestamp with time zone":
		return time.Date(2026, 11, 23, 21, 50, row, 123456000, time.UTC).UnixMicro()
	case "boolean":
		return int64(row % 2)
	case "integer", "bigint":
		return int64(1000 + row)
	case "double precision":
		return 0.1 + float64(row)
	case "text":
		return fmt.Sprintf("%s %d é \U0001f600 '\"\\", c.Name, row)
	case "json":
		return fmt.Sprintf(`{"b":%d,"a":["x & y"]}`, row)
	case "jsonb":
		return fmt.Sprintf(`["a & b","c %d"]`, row)
	case "bytea":
		return []byte{0, 1, 255, byte(row)}
	}
	t.Errorf("column %s has type %s: storage/postgres/copy.go must convert it", c.Name, c.Type)
	return nil
}

// makeBackup returns a working copy of a backup.
func makeBackup(t *testing.T, of backup.Store) *backup.Copy {
	t.Helper()
	dir := t.TempDir()
	_, err := backup.Create(t.Context(), filepath.Join(dir, "backup.db"), backup.Options{
		Store: of, Program: "test", CheckSpace: func() error { return nil },
		Values: func(context.Context, func(string, string, []byte) error) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := backup.Open(t.Context(), filepath.Join(dir, "backup.db"), filepath.Join(dir, "copy.db"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every column of every table has a value in the database, and the same one in a SQLite store made of its backup,
// and in another database made of that store's backup. A table or column that only one engine has fails here,
// unless it is one of derived.
func TestCopy_EveryColumnToSQLiteAndBack(t *testing.T) {
	first, second := open(t, emptySchema(t)), open(t, emptySchema(t))
	var names []string
	var columns map[string][]copiedColumn
	err := pgx.BeginFunc(t.Context(), first.pool, func(tx pgx.Tx) (err error) {
		names, columns, err = copiedTables(t.Context(), tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = first.Import(t.Context(), func(_ context.Context, each func(tables.Copy) error) error {
		for _, name := range names {
			if err := each(sampleRows(t, first, name, columns[name])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := storagetest.ContentsOf(t, first.Export)

	fromFirst := makeBackup(t, backup.Store{Engine: "postgresql", Export: first.Export})
	if got := storagetest.ContentsOf(t, fromFirst.Tables); !reflect.DeepEqual(got, want) {
		t.Fatalf("SQLite: got %v\nwant %v", got, want)
	}
	file := filepath.Join(t.TempDir(), "store.db")
	if err := fromFirst.MoveTo(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	fromSecond := makeBackup(t, backup.Store{Engine: "sqlite", File: file})
	if got := slices.Sorted(maps.Keys(storagetest.ContentsOf(t, fromSecond.Tables))); !slices.Equal(got, names) {
		t.Errorf("SQLite has the tables %v, PostgreSQL %v", got, names)
	}
	if err := second.Import(t.Context(), fromSecond.Tables); err != nil {
		t.Fatal(err)
	}
	if got := storagetest.ContentsOf(t, second.Export); !reflect.DeepEqual(got, want) {
		t.Errorf("PostgreSQL: got %v\nwant %v", got, want)
	}
	if err := second.Import(t.Context(), fromSecond.Tables); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("again: got %v, want %v", err, ErrNotEmpty)
	}
}

// An import that fails leaves the database as it was.
func TestImport_AllOrNothing(t *testing.T) {
	s := open(t, emptySchema(t))
	id, err := s.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := func(columns []string, row ...any) tables.Copy {
		return tables.Copy{Name: "tokens", Columns: columns, Rows: func(yield func([]any, error) bool) { yield(row, nil) }}
	}
	known := []string{"id", "name", "hash", "scopes", "created", "used"}
	for _, bad := range []tables.Copy{
		rows(append(known, "colour"), "b", "b", "b", nil, int64(1), nil, "red"), // of a newer program
		rows(known, "b", "b", "b", "no JSON", int64(1), nil),
		{Name: "colours", Columns: []string{"name"}, Rows: rows(nil, "red").Rows},
	} {
		err := s.Import(t.Context(), func(_ context.Context, each func(tables.Copy) error) error {
			if err := each(rows(known, "a", "a", "a", nil, int64(1), nil)); err != nil {
				t.Errorf("got %v for a good row", err)
			}
			return each(bad)
		})
		if err == nil {
			t.Errorf("%v: got nil, want an error", bad.Columns)
		}
	}
	if now, err := s.ID(t.Context()); err != nil || now != id {
		t.Errorf("got ID %s, %v; want %s", now, err, id)
	}
	if got := storagetest.ContentsOf(t, s.Export)["tokens"]; len(got) > 0 {
		t.Errorf("got tokens %v, want none", got)
	}
}

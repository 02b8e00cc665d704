package postgres

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/tests/engines"
)

const pageSize = 8192

// rewriteFile changes a file of the database while its server is down, and returns its former content.
func rewriteFile(t *testing.T, s *Store, pg *engines.Postgres, path string, change func(content []byte) []byte) (before []byte) {
	t.Helper()
	if err := pg.Stop(syscall.SIGINT, time.Minute); err != nil { // which writes all pages
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, change(bytes.Clone(before)), 0o600), pg.Start()); err != nil {
		t.Fatal(err)
	}
	s.pool.Reset()
	return before
}

func TestDamage_PageOfTableOrIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: starts a server")
	}
	t.Parallel()
	pg := engines.NewPostgres(t, "fsync=off", "autovacuum=off") // which would read damaged pages
	url, err := pg.Create("damaged")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, url)
	feedID := storage.FeedID(benchURL(0))
	if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: feedID, URL: benchURL(0)}); err != nil {
		t.Fatal(err)
	}
	batch := benchBatch(feedID, 0, 200)
	if _, err := s.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	readAll := func() error {
		for _, item := range batch.Items {
			if _, err := storage.ItemByID(t.Context(), s, item.ID); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range []struct {
		relation, code, remedy string
		change                 func(page []byte)
	}{
		{"items", "XX001", "agent restore", func(page []byte) { page[pageSize/2] ^= 4 }},
		{"items_pkey", "XX002", "REINDEX DATABASE", func(page []byte) { clear(page) }}, // an empty page has no checksum
	} {
		var path string
		err := s.pool.QueryRow(t.Context(), `SELECT pg_relation_filepath($1::regclass)`, c.relation).Scan(&path)
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(pg.Dir, "data", path)
		intact := rewriteFile(t, s, pg, path, func(content []byte) []byte {
			for at := pageSize; at < len(content); at += pageSize { // the first page of an index is not of its tree
				c.change(content[at : at+pageSize])
			}
			return content
		})
		if _, err := s.ID(t.Context()); err != nil {
			t.Errorf("%s: the ID before damage is found: %v", c.relation, err)
		}
		if err := readAll(); !errors.Is(err, storage.ErrDamaged) || code(err) != c.code {
			t.Errorf("%s: a read returns %v, want damage and %s", c.relation, err, c.code)
		}
		for range 2 {
			if _, err := s.ID(t.Context()); !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), c.remedy) {
				t.Errorf("%s: the ID after damage is found: %v, want damage and %q", c.relation, err, c.remedy)
			}
		}
		rewriteFile(t, s, pg, path, func([]byte) []byte { return intact })
		if _, err := s.ID(t.Context()); err != nil {
			t.Errorf("%s: the ID of a repaired server: %v", c.relation, err)
		}
		if err := readAll(); err != nil {
			t.Errorf("%s: a read of a repaired server: %v", c.relation, err)
		}
	}
}

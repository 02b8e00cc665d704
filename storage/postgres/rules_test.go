package postgres

import (
	"errors"
	"testing"
	"time"

	"feedmesh/storage"
)

// A new set has no row that concurrent writers could lock.
func TestPutRules_WaitsForConcurrentWriter(t *testing.T) {
	url := emptySchema(t)
	s := open(t, url)
	faster, err := connect(t, url).Begin(t.Context())
	if err == nil {
		_, err = faster.Exec(t.Context(), `INSERT INTO rules (name, version, changed, note) VALUES ('prepare', 1, now(), 'faster')`)
	}
	if err != nil {
		t.Fatal(err)
	}
	put := make(chan error, 1)
	go func() {
		_, err := storage.RuleSets(s).Put(t.Context(), storage.RuleSet{Name: "prepare", Text: []byte("slower"), Changed: time.Now()})
		put <- err
	}()
	waitFor(t, "the slower to wait", func() bool {
		return scan[bool](t, url, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())`)
	})
	if err := faster.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-put; !errors.Is(err, storage.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
}

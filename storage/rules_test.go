package storage_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestNextRules_IncrementsVersion(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 15, 4, 5, 123456789, time.FixedZone("", 3*60*60))
	set := storage.RuleSet{Name: "prepare", Version: 4, Text: []byte("rules"), Note: "mine", Changed: at}
	want := storage.RuleSet{Name: "prepare", Version: 5, Note: "mine", Changed: time.Date(2026, 3, 1, 12, 4, 5, 123456000, time.UTC)}
	if got, err := storage.NextRules(storage.RuleSet{Version: 4}, set); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestNextRules_ConflictNamesNewestVersion(t *testing.T) {
	t.Parallel()
	newest := storage.RuleSet{Version: 5, Note: "tables <kept>", Changed: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	for _, test := range []struct {
		newest  storage.RuleSet
		from    int64
		message string
	}{
		{newest, 4, `your rules are based on version 4, but version 5 was stored at 2026-03-01T12:00:00Z with note "tables <kept>": changed by another writer`},
		{newest, 0, `your rules are based on version 0, but version 5 was stored`},
		{newest, 6, `your rules are based on version 6, but version 5 was stored`},
		{storage.RuleSet{}, 2, `your rules are based on version 2, which does not exist`},
	} {
		_, err := storage.NextRules(test.newest, storage.RuleSet{Version: test.from})
		if !errors.Is(err, storage.ErrConflict) || !strings.HasPrefix(err.Error(), test.message) {
			t.Errorf("got %v, want %q", err, test.message)
		}
	}
	if _, err := storage.NextRules(newest, storage.RuleSet{Version: 5, Text: make([]byte, storage.MaxRules+1)}); !errors.Is(err, storage.ErrTooLarge) {
		t.Errorf("got %v for a text that is too large", err)
	}
}

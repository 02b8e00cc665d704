package storage_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestNextRulesCountUp(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 15, 4, 5, 123456789, time.FixedZone("", 3*60*60))
	set := storage.RuleSet{Name: "prepare", Version: 4, Text: []byte("rules"), Note: "mine", Changed: at}
	want := storage.RuleSet{Name: "prepare", Version: 5, Note: "mine", Changed: time.Date(2026, 3, 1, 12, 4, 5, 123456000, time.UTC)}
	if got, err := storage.NextRules(storage.RuleSet{Version: 4}, set); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestRefusedRulesSayWhoWasFaster(t *testing.T) {
	t.Parallel()
	newest := storage.RuleSet{Version: 5, Note: "tables <kept>", Changed: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	for _, test := range []struct {
		newest storage.RuleSet
		from   int64
		says   string
	}{
		{newest, 4, `yours were made from version 4, and version 5 was put at 2026-03-01T12:00:00Z, noted "tables <kept>": changed by somebody else`},
		{newest, 0, `yours were made from version 0, and version 5 was put`},
		{newest, 6, `yours were made from version 6, and version 5 was put`},
		{storage.RuleSet{}, 2, `yours were made from version 2, and there is none`},
	} {
		_, err := storage.NextRules(test.newest, storage.RuleSet{Version: test.from})
		if !errors.Is(err, storage.ErrConflict) || !strings.HasPrefix(err.Error(), test.says) {
			t.Errorf("got %v, want %q", err, test.says)
		}
	}
	if _, err := storage.NextRules(newest, storage.RuleSet{Version: 5, Text: make([]byte, storage.MaxRules+1)}); !errors.Is(err, storage.ErrTooLarge) {
		t.Errorf("got %v for a text that is too large", err)
	}
}

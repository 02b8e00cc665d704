package storage_test

import (
	"reflect"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestCorrectionsSayWhy(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	old := storage.Item{ID: "item", Spam: true, Categories: []string{"a"}, Topics: []string{"t"}, Why: []string{"rule 1", "rule 2"}}
	for _, test := range []struct {
		says storage.Correction
		want storage.Item
	}{
		{storage.Correction{}, storage.Item{Spam: true, Categories: []string{"a"}, Topics: []string{"t"}, Why: []string{"a person said so: right as it is"}}},
		{storage.Correction{Spam: &no}, storage.Item{Categories: []string{"a"}, Topics: []string{"t"}, Why: []string{"a person said so: not spam"}}},
		{storage.Correction{Spam: &yes, Categories: []string{"b", "c"}, Topics: []string{}}, storage.Item{Spam: true, Categories: []string{"b", "c"},
			Topics: []string{}, Why: []string{"a person said so: spam; categories b, c; topics none"}}},
	} {
		test.want.ID, test.want.Corrected = "item", true
		test.want.Why = append(test.want.Why, "rule 1", "rule 2")
		got := test.says.On(old)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("got %+v, want %+v", got, test.want)
		}
		if again := test.says.On(got); !reflect.DeepEqual(again, got) {
			t.Errorf("said again: got %+v, want %+v", again, got)
		}
	}
	if len(old.Why) != 2 || old.Why[0] != "rule 1" {
		t.Errorf("the item given has the reasons %q now", old.Why)
	}
}

func TestNewestWordOnEachPartCounts(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	at := time.Date(2026, 3, 1, 12, 0, 0, 1500, time.UTC)
	old := storage.Correction{ItemID: "item", Spam: &yes, Categories: []string{}, Topics: []string{"t"}, At: at.Add(-time.Hour), By: "Ann"}
	for _, test := range []struct{ says, want storage.Correction }{
		{storage.Correction{}, storage.Correction{Spam: &yes, Categories: []string{}, Topics: []string{"t"}}},
		{storage.Correction{Spam: &no}, storage.Correction{Spam: &no, Categories: []string{}, Topics: []string{"t"}}},
		{storage.Correction{Categories: []string{"c"}, Topics: []string{}}, storage.Correction{Spam: &yes, Categories: []string{"c"}, Topics: []string{}}},
	} {
		test.says.ItemID, test.says.At, test.says.By = "item", at, "Bob"
		test.want.ItemID, test.want.At, test.want.By = "item", at.Truncate(time.Microsecond), "Bob"
		if got := test.says.After(old); !reflect.DeepEqual(got, test.want) {
			t.Errorf("got %+v, want %+v", got, test.want)
		}
	}
}

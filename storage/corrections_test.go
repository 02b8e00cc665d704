package storage_test

import (
	"reflect"
	"testing"
	"time"

	"feedmesh/storage"
)

func TestCorrection_ApplyToAddsReason(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	old := storage.Item{ID: "item", Spam: true, Categories: []string{"a"}, Topics: []string{"t"}, Reasons: []string{"rule 1", "rule 2"}}
	for _, test := range []struct {
		correction storage.Correction
		want       storage.Item
	}{
		{storage.Correction{}, storage.Item{Spam: true, Categories: []string{"a"}, Topics: []string{"t"}, Reasons: []string{"a person said so: right as it is"}}},
		{storage.Correction{Spam: &no}, storage.Item{Categories: []string{"a"}, Topics: []string{"t"}, Reasons: []string{"a person said so: not spam"}}},
		{storage.Correction{Spam: &yes, Categories: []string{"b", "c"}, Topics: []string{}}, storage.Item{Spam: true, Categories: []string{"b", "c"},
			Topics: []string{}, Reasons: []string{"a person said so: spam; categories b, c; topics none"}}},
	} {
		test.want.ID, test.want.Corrected = "item", true
		test.want.Reasons = append(test.want.Reasons, "rule 1", "rule 2")
		got := test.correction.ApplyTo(old)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("got %+v, want %+v", got, test.want)
		}
		if repeated := test.correction.ApplyTo(got); !reflect.DeepEqual(repeated, got) {
			t.Errorf("applied again: got %+v, want %+v", repeated, got)
		}
	}
	if len(old.Reasons) != 2 || old.Reasons[0] != "rule 1" {
		t.Errorf("the input item was changed: got reasons %q", old.Reasons)
	}
}

func TestCorrection_MergeKeepsNewestParts(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	at := time.Date(2026, 3, 1, 12, 0, 0, 1500, time.UTC)
	old := storage.Correction{ItemID: "item", Spam: &yes, Categories: []string{}, Topics: []string{"t"}, At: at.Add(-time.Hour), By: "Ann"}
	for _, test := range []struct{ correction, want storage.Correction }{
		{storage.Correction{}, storage.Correction{Spam: &yes, Categories: []string{}, Topics: []string{"t"}}},
		{storage.Correction{Spam: &no}, storage.Correction{Spam: &no, Categories: []string{}, Topics: []string{"t"}}},
		{storage.Correction{Categories: []string{"c"}, Topics: []string{}}, storage.Correction{Spam: &yes, Categories: []string{"c"}, Topics: []string{}}},
	} {
		test.correction.ItemID, test.correction.At, test.correction.By = "item", at, "Bob"
		test.want.ItemID, test.want.At, test.want.By = "item", at.Truncate(time.Microsecond), "Bob"
		if got := test.correction.Merge(old); !reflect.DeepEqual(got, test.want) {
			t.Errorf("got %+v, want %+v", got, test.want)
		}
	}
}

package storage_test

import (
	"reflect"
	"testing"

	"feedmesh/storage"
)

// fullLabels returns labels with a value in every field.
func fullLabels() storage.Labels {
	return storage.Labels{ItemID: "item", Spam: true, SpamScore: 0.5, Flags: []string{"adult"}, Categories: []string{"go"},
		Topics: []string{"css"}, Reasons: []string{"because"}, Score: 1, Sentiment: -1}
}

func TestLabels_RoundTripThroughItem(t *testing.T) {
	t.Parallel()
	want := fullLabels()
	all := reflect.ValueOf(want)
	for i := range all.NumField() {
		if all.Field(i).IsZero() {
			t.Fatalf("%s is not tested", all.Type().Field(i).Name)
		}
	}
	item := want.ApplyTo(storage.Item{ID: "item", Title: "Title", Corrected: true})
	if got := storage.LabelsOf(item); !reflect.DeepEqual(got, want) || item.Title != "Title" || !item.Corrected {
		t.Errorf("got %+v of %+v, want %+v", got, item, want)
	}
	if got, want := storage.LabelsOf((storage.Labels{}).ApplyTo(item)), (storage.Labels{ItemID: "item"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLabels_EqualComparesEveryField(t *testing.T) {
	t.Parallel()
	if other := fullLabels(); !fullLabels().Equal(other) {
		t.Error("labels are not equal to themselves")
	}
	if empty := (storage.Labels{Flags: []string{}, Categories: []string{}, Topics: []string{}, Reasons: []string{}}); !empty.Equal(storage.Labels{}) {
		t.Error("empty and nil lists differ")
	}
	for i := range reflect.TypeFor[storage.Labels]().NumField() {
		other := fullLabels()
		reflect.ValueOf(&other).Elem().Field(i).SetZero()
		if fullLabels().Equal(other) || other.Equal(fullLabels()) {
			t.Errorf("labels without %s are equal to those with it", reflect.TypeFor[storage.Labels]().Field(i).Name)
		}
	}
}

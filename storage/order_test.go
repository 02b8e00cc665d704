package storage_test

import (
	"errors"
	"reflect"
	"testing"

	"feedmesh/storage"
)

func TestOrderByIDs_OmitsMissing(t *testing.T) {
	t.Parallel()
	a, b := storage.Item{ID: "a", Title: "A"}, storage.Item{ID: "b", Title: "B"}
	got := storage.OrderByIDs([]storage.Item{a, b, {ID: "c"}}, []string{"b", "x", "a", "b"})
	if want := []storage.Item{b, a, b}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFirstItem_NoneIsNotFound(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, test := range []struct {
		items []storage.Item
		err   error
		want  error
	}{
		{[]storage.Item{{ID: "a"}, {ID: "b"}}, nil, nil},
		{nil, nil, storage.ErrNotFound},
		{nil, broken, broken},
	} {
		got, err := storage.FirstItem(test.items, test.err)
		if err != test.want || err == nil && got.ID != "a" {
			t.Errorf("of %v, %v: got %+v, %v; want %v", test.items, test.err, got, err, test.want)
		}
	}
}

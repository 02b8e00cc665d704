package storage_test

import (
	"fmt"
	"maps"
	"testing"

	"feedmesh/storage"
)

// about returns n items of these categories.
func about(n int, categories ...string) []storage.Item {
	items := make([]storage.Item, n)
	for i := range items {
		items[i].Categories = categories
	}
	return items
}

func TestCountCategories_AddsNewItems(t *testing.T) {
	t.Parallel()
	spam := about(5, "a")
	for i := range spam {
		spam[i].Spam = true
	}
	twelve := map[string]float64{"z": 3}
	for i := range 11 {
		twelve[fmt.Sprintf("%02d", i)] = 1
	}
	kept := maps.Clone(twelve)
	delete(kept, "09")
	delete(kept, "10")
	for _, test := range []struct {
		name   string
		counts map[string]float64
		items  []storage.Item
		want   map[string]float64
	}{
		{"no items", nil, nil, nil},
		{"a zero count is dropped", map[string]float64{}, nil, nil},
		{"one of each", nil, about(1, "a"), map[string]float64{"a": 1}},
		{"items share their weight", map[string]float64{"a": 1}, about(2, "a", "b"), map[string]float64{"a": 2, "b": 1}},
		{"items without a category", map[string]float64{"a": 1}, about(2), map[string]float64{"a": 1}},
		{"spam is not counted", nil, spam, nil},
		{"a total of a hundred is unchanged", nil, about(100, "a"), map[string]float64{"a": 100}},
		{"larger totals are halved", map[string]float64{"a": 60, "b": 40}, about(1, "b"), map[string]float64{"a": 30, "b": 20.5}},
		{"the ten largest remain, ties by name", twelve, nil, kept},
		{"invalid counts are limited", map[string]float64{"a": 1600}, nil, map[string]float64{"a": 1600}},
		{"with the next item", map[string]float64{"a": 1599}, about(1, "a"), map[string]float64{"a": 100}},
	} {
		before := maps.Clone(test.counts)
		got := storage.CountCategories(test.counts, test.items...)
		if !maps.Equal(got, test.want) || (got == nil) != (test.want == nil) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
		if !maps.Equal(test.counts, before) {
			t.Errorf("%s: the input counts changed to %v, want %v", test.name, test.counts, before)
		}
	}
}

// Maps iterate in random order, and sums of floating-point numbers depend on the order.
func TestCountCategories_IsDeterministic(t *testing.T) {
	t.Parallel()
	counts := map[string]float64{}
	for i := range 10 {
		counts[fmt.Sprint(i)] = 10 - 0.1*float64(i%3)
	}
	items := about(30, "0", "3", "7")
	want := storage.CountCategories(counts, items...)
	for range 100 {
		if got := storage.CountCategories(counts, items...); !maps.Equal(got, want) {
			t.Fatalf("got %v, then %v", want, got)
		}
	}
}

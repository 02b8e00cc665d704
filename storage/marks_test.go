package storage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"feedmesh/storage"
)

func TestItemNumber_FindsItem(t *testing.T) {
	var ids []string
	var numbers []int64
	for i := range 1000 {
		id := storage.ItemID("feed", fmt.Sprint(i))
		n := storage.ItemNumber(id)
		if n <= 0 || !strings.HasPrefix(id, storage.NumberPrefix(n)) {
			t.Fatalf("item %s: got number %d with prefix %s", id, n, storage.NumberPrefix(n))
		}
		ids, numbers = append(ids, id), append(numbers, n)
	}
	sorted := slices.Sorted(slices.Values(ids))
	if got := storage.OrderByNumbers(sorted, append(numbers, numbers[0], 7)); !slices.Equal(got, ids) {
		t.Errorf("got %d items in another order, want %d", len(got), len(ids))
	}
	// Clients store the number, so it must never change.
	if got := storage.ItemNumber(storage.ItemID("feed", "key")); got != 4389053247702576091 {
		t.Errorf("the number is %d now", got)
	}
	for _, none := range []string{"", "item-0", "aaaa"} {
		if n := storage.ItemNumber(none); n != 0 {
			t.Errorf("%q: got number %d, want an error", none, n)
		}
	}
}

func TestOrderByNumbers_ReturnsAllItemsOfANumber(t *testing.T) {
	// The last 65 of 128 bits do not affect the number.
	a, b := strings.Repeat("a", 25)+"a", strings.Repeat("a", 25)+"e"
	if storage.ItemNumber(a) != storage.ItemNumber(b) {
		t.Fatal("they have different numbers")
	}
	if got := storage.OrderByNumbers([]string{a, b}, []int64{0}); !slices.Equal(got, []string{a, b}) {
		t.Errorf("got %v", got)
	}
}

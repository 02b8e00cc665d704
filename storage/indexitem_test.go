package storage_test

import (
	"math"
	"testing"

	"feedmesh/storage"
)

func TestIndexItem_ProminenceIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sources int
		score   float64
		want    int
	}{
		{-5, 0, 4}, {0, 0, 4}, {1, 0, 4}, {2, 0, 5}, {3, 0, 5}, {4, 0, 6}, {8, 0, 7}, {256, 0, 12}, {1 << 40, 0, 12},
		{0, 0.5, 4}, {0, 1, 5}, {0, 5, 6}, {0, 20, 7}, {0, 1e9, 7}, {0, -1, 3}, {0, -80, 0}, {0, math.Inf(-1), 0}, {0, math.NaN(), 4}, {1 << 40, 1e9, 15},
	} {
		got := storage.IndexItem{Item: storage.Item{Score: c.score}, Sources: c.sources}.Prominence()
		if got != c.want {
			t.Errorf("%d sources, score %v: got %d, want %d", c.sources, c.score, got, c.want)
		}
	}
}

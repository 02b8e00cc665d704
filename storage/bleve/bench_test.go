package bleve_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"feedmesh/storage/indextest"
)

// BenchmarkPut indexes generated items in batches.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{50, 200, 500, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			x := open(b, filepath.Join(b.TempDir(), "index"))
			defer x.Close()
			indextest.MeasurePut(b, x, size)
		})
	}
}

// BenchmarkSearch searches an index of 25,000 generated items.
func BenchmarkSearch(b *testing.B) {
	x := open(b, filepath.Join(b.TempDir(), "index"))
	defer x.Close()
	made := indextest.NewItemGenerator(1)
	for range 50 {
		if err := x.Put(b.Context(), made.Items(500)...); err != nil {
			b.Fatal(err)
		}
	}
	indextest.MeasureSearches(b, x, made)
}

// BenchmarkStamps counts 100,000 generated items of 300 days by day, and pages through all of them, after a
// tenth were updated and a tenth deleted.
func BenchmarkStamps(b *testing.B) {
	x := open(b, filepath.Join(b.TempDir(), "index"))
	defer x.Close()
	made := indextest.NewItemGenerator(1)
	for range 200 {
		items := made.Items(500)
		if err := x.Put(b.Context(), items...); err != nil {
			b.Fatal(err)
		}
		if err := x.Put(b.Context(), items[:50]...); err != nil {
			b.Fatal(err)
		}
		var deletions []string
		for _, it := range items[50:100] {
			deletions = append(deletions, it.ID)
		}
		if err := x.Delete(b.Context(), deletions...); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("days", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Days(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pages", func(b *testing.B) {
		for b.Loop() {
			days, err := x.Days(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for day, want := range days {
				for after := ""; want > 0; {
					page, err := x.Stamps(b.Context(), day, after, 500)
					if err != nil || len(page) == 0 {
						b.Fatalf("%d stamps are missing, %v", want, err)
					}
					want -= int64(len(page))
					n += len(page)
					after = page[len(page)-1].ID
				}
			}
			if n != 90_000 {
				b.Fatalf("walked over %d items", n)
			}
		}
	})
}

// BenchmarkPutAgain puts 500 indexed items again: unchanged, and with stories of four items each whose number
// of publishers has doubled.
func BenchmarkPutAgain(b *testing.B) {
	x := open(b, filepath.Join(b.TempDir(), "index"))
	defer x.Close()
	items := indextest.NewItemGenerator(1).Items(500)
	for i := range items {
		items[i].StoryID, items[i].Sources = fmt.Sprint("story", i/4), 1
	}
	if err := x.Put(b.Context(), items...); err != nil {
		b.Fatal(err)
	}
	b.Run("same", func(b *testing.B) {
		for b.Loop() {
			if err := x.Put(b.Context(), items...); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("coverage", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			for i := range items {
				items[i].Sources = 1 << (n % 8)
			}
			if err := x.Put(b.Context(), items...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

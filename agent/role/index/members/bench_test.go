package members

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/tests/cputime"
)

// BenchmarkEvaluator prints how many items a second are evaluated, from the task to the members in SQLite: reading, matching and
// storing them, by the number of views. Each item has 150 words and is in some hundredth of the views.
func BenchmarkEvaluator(b *testing.B) {
	const items = 2000
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "views\tmembers/item\titems/s\tCPU µs/item\t")
	for range b.N {
		for _, views := range []int{1, 10, 100, 1000} {
			w := newBench(b)
			var definitions []string
			for i := range views {
				definitions = append(definitions, fmt.Sprintf("v%d = from tag:news where word%d once story window 3d", i, i%100))
			}
			w.define(definitions...)
			random := rand.New(rand.NewPCG(uint64(views), 1))
			batch := storage.Batch{FeedID: storage.FeedID(feeds[0])}
			var ids []string
			for i := range items {
				item := worktest.Item(batch.FeedID, fmt.Sprint(i), "", "")
				var words []string
				for range 150 {
					words = append(words, fmt.Sprint("word", random.IntN(15_000)))
				}
				item.Title, item.HTML, item.Published, item.FirstSeen = words[0], "<p>"+strings.Join(words, " ")+"</p>", w.now, w.now
				batch.Items, ids = append(batch.Items, item), append(ids, item.ID)
			}
			if _, err := w.store.PutItems(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
			start, cpu := time.Now(), cputime.Used(b)
			w.receive(ids...)
			took, used := time.Since(start), cputime.Used(b)-cpu
			members := 0
			for i := range views {
				members += len(w.members(fmt.Sprint("v", i)))
			}
			fmt.Fprintf(table, "%d\t%.1f\t%.0f\t%.0f\t\n", views, float64(members)/items, items/took.Seconds(), float64(used.Microseconds())/items)
		}
	}
	if err := table.Flush(); err != nil {
		b.Fatal(err)
	}
}

package members

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/text"
	"feedmesh/classify/view"
	"feedmesh/storage"
)

// What a preview selects is what the view has once it is filled in.
func TestSelect_IsWhatTheFilledViewHas(t *testing.T) {
	stored := []string{"base = from tag:news where go once story", "wide = from all where rust", "other = from view:base, view:wide", "recent = from all where c window 20h"}
	selectAndFill(t, stored, "from all", "from tag:news where rust -word1", "from view:base", "from view:other where word2", "from view:base, tag:none",
		"from all join view:base", "from all join view:recent within 3h", "from tag:news join view:other within 1h where go", "from all join view:wide unique 80%")
	selectAndFill(t, nil, "from all unique 60%")
	selectAndFill(t, nil, "from all once duplicate window 30h")
}

// selectAndFill compares the selection of new views with their members, beside stored views.
func selectAndFill(t *testing.T, stored []string, definitions ...string) {
	t.Helper()
	b := newBench(t)
	b.define(stored...)
	ids := b.indexRandom(90)
	b.receive(ids...)
	others, err := storage.Views(b.store).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, definition := range definitions {
		name := fmt.Sprint("v", i)
		v, err := view.Parse("view " + name + " = " + definition)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Query(t.Context(), b.store, v, b.views.byName, b.now)
		if err != nil {
			t.Fatal(err)
		}
		found, err := b.search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		read, err := b.store.Items(t.Context(), found...)
		if err != nil {
			t.Fatal(err)
		}
		var candidates []Found
		for _, item := range read {
			candidates = append(candidates, Found{item, text.PlainText(item.HTML)})
		}
		selected, err := Select(t.Context(), b.store, storage.View{Name: name, Definition: v.String()}, others, candidates, b.now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range selected {
			got = append(got, item.ID)
		}
		if len(got) == 0 || len(got) == len(ids) || !slices.IsSortedFunc(selected, func(x, y Found) int { return y.Published.Compare(x.Published) }) {
			t.Errorf("%s: selected %d of %d items, want some, the newest first", definition, len(got), len(ids))
		}
		b.define(name + " = " + definition)
		b.receive(ids...)
		b.want(name, got...)
	}
}

// indexRandom stores and indexes items of random words, stories and originals, the newest first.
func (b *bench) indexRandom(n int) (ids []string) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		words := strings.Join([]string{"go", "rust", "c"}[random.IntN(2):random.IntN(2)+2], " ")
		for range 3 {
			words += fmt.Sprintf(" word%d in each of these", random.IntN(4))
		}
		ids = append(ids, b.put(i%3, fmt.Sprint(i), words, func(item *storage.Item) {
			item.Published = b.now.Add(-time.Duration(i) * 30 * time.Minute)
			item.FirstSeen = item.Published
			if i%4 > 0 {
				item.StoryID = fmt.Sprint("s", random.IntN(15))
			}
			if i > 10 && i%5 == 0 {
				item.DuplicateOf = ids[random.IntN(10)]
			}
		}))
	}
	items, err := b.store.Items(b.Context(), ids...)
	if err != nil {
		b.Fatal(err)
	}
	var indexed []storage.IndexItem
	for _, item := range items {
		indexed = append(indexed, storage.IndexItem{Item: item, Text: text.PlainText(item.HTML)})
	}
	if err := b.index.Put(b.Context(), indexed...); err != nil {
		b.Fatal(err)
	}
	return ids
}

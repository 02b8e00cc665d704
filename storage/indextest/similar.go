package indextest

import (
	"fmt"
	"slices"
	"testing"

	"feedmesh/storage"
)

func putNews(t *testing.T, x storage.Index) {
	var items []storage.IndexItem
	for n, subject := range []string{"weather in the mountains", "football on television", "recipes for bread", "travel by train"} {
		for round := range 5 {
			items = append(items, item(fmt.Sprint("other-", n, round), fmt.Sprint("News of the ", subject), fmt.Sprint("All that there is to know of ", subject, " this week, number ", round)))
		}
	}
	put(t, x, append(items,
		item("kernel-1", "Linux kernel hole lets users become root", "A hole in the scheduler of the Linux kernel was fixed by its developers."),
		item("kernel-2", "Root through the scheduler of the kernel", "Developers of Linux fixed a hole in the kernel that makes users root."),
		item("kernel-3", "Distributions ship a fixed Linux kernel", "The hole in the scheduler is closed."),
		changed(item("spam", "Linux kernel hole lets users become root", "kernel scheduler"), func(it *storage.IndexItem) { it.Spam = true }),
		changed(item("again", "Linux kernel hole lets users become root", "kernel scheduler"), func(it *storage.IndexItem) { it.DuplicateOf = "kernel-1" }),
		changed(item("muted", "Linux kernel hole lets users become root", "kernel scheduler"), func(it *storage.IndexItem) { it.Flags = []string{storage.FlagMuted} }),
	)...)
}

func similarTo(t *testing.T, x storage.Index, it storage.IndexItem, limit int) []string {
	t.Helper()
	hits, err := x.Similar(t.Context(), it, limit)
	if err != nil {
		t.Fatalf("similar: %v", err)
	}
	return ids(storage.Results{Hits: hits})
}

func similarItems(t *testing.T, x storage.Index) {
	putNews(t, x)
	one := item("kernel-1", "Linux kernel hole lets users become root", "A hole in the scheduler of the Linux kernel was fixed by its developers.")
	got := similarTo(t, x, one, 2)
	slices.Sort(got)
	if !slices.Equal(got, []string{"kernel-2", "kernel-3"}) {
		t.Errorf("like kernel-1 are %v, want the other two first", got)
	}
	for _, id := range similarTo(t, x, one, 50) {
		if slices.Contains([]string{"kernel-1", "spam", "again", "muted"}, id) {
			t.Errorf("%s is like kernel-1, want neither itself nor spam, duplicates, muted ones", id)
		}
	}
	one.ID = "never indexed"
	if got := similarTo(t, x, one, 1); !slices.Equal(got, []string{"kernel-1"}) {
		t.Errorf("like an item that is not there is %v, want kernel-1", got)
	}
	if a, b := similarTo(t, x, one, 10), similarTo(t, x, one, 10); !slices.Equal(a, b) {
		t.Errorf("two calls returned %v, then %v", a, b)
	}
}

// similarOutsideStory has an item whose story has the best matches, which would hide those of other stories.
func similarOutsideStory(t *testing.T, x storage.Index) {
	putNews(t, x)
	of := func(id, story, title, text string) storage.IndexItem {
		return changed(item(id, title, text), func(it *storage.IndexItem) { it.StoryID = story })
	}
	one := of("quake-0", "quake", "Strong earthquake shakes Aceh coast", "Houses collapsed near Banda after the quake, rescuers stated.")
	items := []storage.IndexItem{one, of("tsunami", "old", "Tsunami after earthquake off Aceh years ago", "Banda remembers the quake."), of("none", "", "Earthquake drill for schools in Aceh", "")}
	for n := range 40 {
		items = append(items, of(fmt.Sprint("quake-", n+1), "quake", one.Title, one.Text+fmt.Sprint(" Report ", n)))
	}
	put(t, x, items...)
	got := similarTo(t, x, one, 5)
	slices.Sort(got)
	if !slices.Equal(got, []string{"none", "tsunami"}) {
		t.Errorf("like an item of a story are %v, want the items of other stories", got)
	}
}

func nothingSimilar(t *testing.T, x storage.Index) {
	one := item("one", "Linux kernel hole", "scheduler")
	if got := similarTo(t, x, one, 10); len(got) != 0 {
		t.Errorf("like an item are %v in an empty index, want none", got)
	}
	putNews(t, x)
	for _, strange := range []storage.IndexItem{item("x", "", ""), item("x", "...", "\x00"), item("x", "xyzzy plugh", "quux"), item("x", "to be or not", "и как")} {
		if got := similarTo(t, x, strange, 10); len(got) != 0 {
			t.Errorf("like %q are %v, want none", strange.Title, got)
		}
	}
	for _, limit := range []int{0, -1} {
		if got := similarTo(t, x, one, limit); len(got) != 0 {
			t.Errorf("limit %d: got similar items %v, want none", limit, got)
		}
	}
}

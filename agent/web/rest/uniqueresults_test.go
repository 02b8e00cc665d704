package rest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// bodies returns n different words of an item, from the given one on.
func bodies(from, n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprint("word", from+i))
	}
	return "<p>" + strings.Join(words, " ") + ".</p>"
}

func TestSearch_HidesResultsThatAreNotUnique(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.keep(t,
		storage.Item{Key: "d", Title: "Dam of Varne, fourth", HTML: bodies(500, 200)},
		storage.Item{Key: "c", Title: "Dam of Varne, third", HTML: bodies(100, 200)},
		storage.Item{Key: "b", Title: "Dam of Varne, second", HTML: bodies(50, 200)},
		storage.Item{Key: "a", Title: "Dam of Varne, first", HTML: bodies(0, 200)},
	)
	for _, test := range []struct {
		search, shown, hidden string
	}{
		{"", "abcd", ""},
		{"&unique=90", "abcd", ""},
		{"&unique=60", "acd", "b"},
		{"&unique=30", "ad", "bc"},
		{"&unique=60&limit=2", "ac", "b"},
	} {
		found := getJSON[wire.SearchResults](t, w, "/api/search?q=varne&sort=newest"+test.search)
		shown, hidden := "", ""
		for _, item := range found.Items {
			shown += item.Key
		}
		for _, h := range found.Hidden {
			hidden += map[bool]string{true: "b", false: "c"}[strings.HasSuffix(h.Title, "second")]
			if !strings.Contains(h.Why, "%") || !slices.ContainsFunc(found.Items, func(i wire.FoundItem) bool { return i.ID == h.Of }) {
				t.Errorf("%s: got %+v, want what it repeats and why", test.search, h)
			}
		}
		if shown != test.shown || hidden != test.hidden {
			t.Errorf("%q: shows %s and hides %s, want %s and %s", test.search, shown, hidden, test.shown, test.hidden)
		}
	}
	if found := getJSON[wire.SearchResults](t, w, "/api/search?q=varne&sort=newest&unique=60&limit=2"); found.Next == "" {
		t.Error("got no next page after a filled page, want one")
	} else if rest := getJSON[wire.SearchResults](t, w, "/api/search?q=varne&sort=newest&unique=60&limit=2&cursor="+found.Next); len(rest.Items) != 1 || rest.Items[0].Key != "d" {
		t.Errorf("got %+v on the next page, want d", rest.Items)
	}
	w.request(t, "GET", "/api/search?unique=101", "").isProblem(t, 422, "validation")
}

// The setting of the node applies where the search has none, but not to a search for duplicates.
func TestSearch_UniquenessOfTheNode(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.keep(t, storage.Item{Key: "b", Title: "Dam of Varne, second", HTML: bodies(50, 200)}, storage.Item{Key: "a", Title: "Dam of Varne, first", HTML: bodies(0, 200)})
	w.Unique = 60
	for search, want := range map[string]int{"": 1, "&unique=90": 2, "&duplicates=true": 2, "&duplicates=true&unique=60": 1} {
		if got := w.titles(t, "q=varne"+search); len(got) != want {
			t.Errorf("%q: got %q, want %d", search, got, want)
		}
	}
}

// A story of many items comes first until it is old; a cursor belongs to its order.
func TestStories_Longest(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	var items []storage.Item
	for story, count := range map[string]int{"long": 8, "short": 2} {
		for i := range count {
			key := fmt.Sprint(story, i)
			items = append(items, w.newsOf(key, fmt.Sprint("host", i%2, ".example"), "News of "+story, map[string]int{"long": 0, "short": 30 * 60}[story], "e-"+story, story))
		}
	}
	w.put(t, items...)
	titles := func(query string) (list []string) {
		for _, s := range getJSON[wire.StoryPage](t, w, "/api/stories?"+query).Stories {
			list = append(list, s.Title)
		}
		return list
	}
	if got := titles("sort=longest"); !slices.Equal(got, []string{"News of long", "News of short"}) {
		t.Errorf("got %q, want the longest first: four times the items outweigh 30 hours", got)
	}
	if got := titles("sort=newest"); !slices.Equal(got, []string{"News of short", "News of long"}) {
		t.Errorf("got %q, want the newest first", got)
	}
	next := getJSON[wire.StoryPage](t, w, "/api/stories?limit=1&sort=longest").Next
	if got := titles("limit=1&sort=longest&cursor=" + next); !slices.Equal(got, []string{"News of short"}) {
		t.Errorf("got %q on the second page", got)
	}
	w.request(t, "GET", "/api/stories?limit=1&sort=rank&cursor="+next, "").isProblem(t, 400, "cursor")
	other := getJSON[wire.StoryPage](t, w, "/api/stories?limit=1").Next
	w.request(t, "GET", "/api/stories?limit=1&sort=longest&cursor="+other, "").isProblem(t, 400, "cursor")
}

func TestSearch_Digest(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	w.keep(t,
		storage.Item{Key: "a", URL: "https://one.example/", Language: "en", Title: "Dam of Varne", HTML: "<p>Engineers closed the dam of Varne on Monday because of cracks in its wall.</p><p>The cafeteria stays open for guests until the evening.</p>"},
		storage.Item{Key: "b", URL: "https://two.example/", Language: "en", Title: "Dam near Varne", HTML: "<p>Read more about the dam of Varne.</p><p>Villages below the dam of Varne were evacuated, the mayor told reporters.</p>"},
		storage.Item{Key: "c", URL: "https://three.example/", Language: "en", Title: "Varne dam", HTML: "<p>My dam of Varne diary begins with a walk that I took there.</p>"},
	)
	found := getJSON[wire.SearchResults](t, w, "/api/search?q=dam+varne&digest=true")
	var hosts []string
	for _, q := range found.Digest {
		hosts = append(hosts, q.Item.Publisher)
		if !strings.HasPrefix(q.Text, "Engineers closed") && !strings.HasPrefix(q.Text, "Villages below") {
			t.Errorf("got %q in the digest, want whole sentences with the words only", q.Text)
		}
	}
	slices.Sort(hosts)
	if !slices.Equal(hosts, []string{"one.example", "two.example"}) {
		t.Errorf("got sentences of %q, want one of each publisher with one", hosts)
	}
	if found := getJSON[wire.SearchResults](t, w, "/api/search?q=dam+varne"); found.Digest != nil {
		t.Errorf("got %+v without a request for it", found.Digest)
	}
	if found := getJSON[wire.SearchResults](t, w, "/api/search?digest=true"); found.Digest != nil {
		t.Errorf("got %+v without words, want none", found.Digest)
	}
}

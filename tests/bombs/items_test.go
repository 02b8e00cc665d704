package bombs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/classify/near"
	"feedmesh/classify/spam"
	"feedmesh/classify/story"
	"feedmesh/storage"
)

// documents are items of one document that resemble each other.
var documents = []struct {
	name        string
	title, text func(i int) string
}{
	{"one word differs", func(i int) string {
		return fmt.Sprintf("Strong earthquake %s hits the coast of Chile near Iquique", name(i))
	},
		func(i int) string {
			return strings.Repeat("the quick brown fox jumps over the lazy dog and ", 20) + name(i)
		}},
	{"equal titles", func(int) string { return "Strong earthquake hits the coast of Chile near Iquique" },
		func(i int) string { return random(400) + fmt.Sprint(i) }},
	{"equal titles, other texts", func(int) string { return "Strong earthquake hits the coast of Chile near Iquique" },
		func(i int) string { return strings.Repeat(name(i)+" ", 100) }},
	{"equal texts, other titles", func(i int) string { return strings.Repeat(name(i)+" ", 8) },
		func(int) string { return strings.Repeat("the quick brown fox jumps over the lazy dog and ", 20) }},
	{"numbered titles", func(i int) string { return fmt.Sprintf("Kernel 6.%d adds real time scheduling for everyone", i) },
		func(i int) string { return "" }},
	{"long titles", func(i int) string { return strings.Repeat("earthquake ", 25) + name(i) },
		func(i int) string { return "" }},
	{"long titles of rare words", func(i int) string { return random(300) + name(i) },
		func(i int) string { return "" }},
	{"one n-gram", func(i int) string { return name(i) },
		func(i int) string { return strings.Repeat("buy now ", 200+i%7) }},
	{"rotated words", func(i int) string { return rotated(i, 12) },
		func(i int) string { return rotated(i, 200) }},
}

// name returns a word for a number.
func name(i int) string {
	b := []byte("x")
	for ; i > 0; i /= 26 {
		b = append(b, 'a'+byte(i%26))
	}
	return string(b)
}

// rotated returns n of 300 words, from the i-th on.
func rotated(i, n int) string {
	var b strings.Builder
	for k := range n {
		b.WriteString(name(1000+(i+k)%300) + " ")
	}
	return b.String()
}

// TestDocument_StagesCostLittle runs the stages that compare items on documents of 5,000 items that resemble each
// other, in one feed and in as many feeds as items.
func TestDocument_StagesCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: computes for half a minute")
	}
	const n = 5000
	settings, weights := near.Default(), story.Default()
	for k := range 2 * len(documents) {
		d, feeds := documents[k/2], []int{1, n}[k%2]
		t.Run(fmt.Sprintf("%s, %d feeds", d.name, feeds), func(t *testing.T) {
			items := make([]storage.Item, n)
			texts := make([]string, n)
			for i := range items {
				feed := i % feeds
				items[i] = storage.Item{ID: fmt.Sprint("i", i), FeedID: fmt.Sprint("f", feed), Title: d.title(i), URL: fmt.Sprintf("https://h%d.example/%d", feed, i), Language: "en", FirstSeen: time.Unix(1e9, 0)}
				texts[i] = d.text(i)
				items[i].TextHash = near.TextHash(items[i].Title, texts[i])
			}
			signatures, stories := make([]near.Signature, n), make([]story.Item, n)
			cache := spam.NewHistoryCache(spam.DefaultCacheBytes)
			run(t, "history", func() {
				for i, it := range items {
					cache.Record(it.FeedID, "h", it.Title, texts[i], it.FirstSeen)
				}
			})
			run(t, "signature", func() {
				for i, it := range items {
					signatures[i] = placement.Signature(it, texts[i], &settings)
				}
			})
			run(t, "features", func() {
				for i, it := range items {
					stories[i] = placement.StoryItem(it, texts[i])
					stories[i].Features = weights.Extract(stories[i])
				}
			})
			x := near.NewIndex(settings)
			run(t, "near", func() {
				for i := range items {
					stories[i].DuplicateOf = x.Place(signatures[i]).DuplicateOf
				}
			})
			c := story.New(weights, story.DefaultLimits(), story.IDs{Event: storage.EventID, Story: storage.StoryID})
			run(t, "story", func() {
				for i := range items {
					c.Place(stories[i])
				}
			})
		})
	}
}

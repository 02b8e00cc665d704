package role

import (
	"slices"
	"strings"
	"testing"

	"feedmesh/classify"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// classifierTo returns a classifier with the rules we ship.
func classifierTo(out subjects.Publisher) *classifier {
	return &classifier{rules: classify.DefaultRules(), out: out}
}

// draftsIn returns drafts in the languages that s names, "-" for none.
func draftsIn(s string) []subjects.Draft {
	var drafts []subjects.Draft
	for _, lang := range strings.Fields(s) {
		drafts = append(drafts, subjects.Draft{Item: storage.Item{Language: strings.Trim(lang, "-")}})
	}
	return drafts
}

func TestLaneOf(t *testing.T) {
	for _, test := range []struct{ feed, items, want string }{
		{"en", "en en ru", "en"},
		{"en", "ru en ru", "ru"},
		{"en", "ru en", "en"}, // a tie goes by name
		{"en", "en ru", "en"},
		{"ru", "de fr fr de", "de"},
		{"ru", "fr de de fr", "de"},
		{"ru", "- - en", "ru"}, // none of its own: the feed's
		{"", "- -", "other"},
		{"ja", "ja ja en", "other"},
		{"", "pl cs en en", "en"}, // all that share a lane count together
		{"", "pl cs uk", "other"},
		{"", "uk pl uk cs", "other"},
		{"en", "", "other"},
	} {
		task := subjects.Classify{Document: subjects.Document{Language: test.feed}, Drafts: draftsIn(test.items)}
		if got := laneOf(task); got != test.want {
			t.Errorf("feed in %q, items in %q: got lane %s, want %s", test.feed, test.items, got, test.want)
		}
		slices.Reverse(task.Drafts)
		if got := laneOf(task); got != test.want {
			t.Errorf("feed in %q, items in %q backwards: got lane %s, want %s", test.feed, test.items, got, test.want)
		}
	}
}

func TestItemsAreLabelledWithWhy(t *testing.T) {
	out := &outbox{}
	task := subjects.Prepare{
		Document: subjects.Document{Receipt: receiptOf("f"), URL: blog, Title: "Blog", Language: "en"},
		Entries: []subjects.Entry{
			{Key: "k", Title: "Linux kernel 7.0 released", HTML: "<p>Linus Torvalds has released version 7.0 of the Linux kernel, with new drivers and a faster scheduler.</p>"},
			{Key: "s", Title: "Casino bonus: win real money now", HTML: "<p>Best online casino bonus, viagra without prescription, payday loans. Buy now! Click here to win money.</p>"},
			{Key: "n", Title: "Of this and that", HTML: "<p>It was nothing much, and it went on.</p>"},
		},
	}
	if err := (&preparer{out: out}).Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if err := classifierTo(out).Receive(t.Context(), only(t, out, subjects.Classifys)); err != nil {
		t.Fatal(err)
	}
	got := only(t, out, subjects.Clusters)
	if len(got.Items) != 3 || got.Lane != "en" || got.Receipt != task.Receipt || got.ID() != task.Document.ID() {
		t.Fatalf("got %+v, want three items in lane en, with the receipt", got)
	}
	kernel, spam, nothing := got.Items[0], got.Items[1], got.Items[2]
	if kernel.Spam || len(kernel.Categories) == 0 || len(kernel.Why) == 0 {
		t.Errorf("got spam %t, categories %v, why %v of a kernel's release; want a category and why", kernel.Spam, kernel.Categories, kernel.Why)
	}
	if !spam.Spam || len(spam.Why) == 0 {
		t.Errorf("got spam %t, why %v of a casino's advertisement; want spam and why", spam.Spam, spam.Why)
	}
	if nothing.Spam || len(nothing.Categories)+len(nothing.Topics) != 0 {
		t.Errorf("got %+v of nothing in particular, want no labels", nothing)
	}
	for _, item := range got.Items {
		if item.Lane != "en" || item.Title == "" || item.HTML == "" {
			t.Errorf("got %+v, want the item as it was, in lane en", item)
		}
	}
}

// receiptOf returns the receipt of a document of a feed.
func receiptOf(feedID string) subjects.Receipt {
	return subjects.Receipt{FeedID: feedID, Crawl: "c1", Fetched: noon, Status: 200, ETag: `"1"`, LastModified: "then", BodyHash: "hash"}
}

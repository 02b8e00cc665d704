package classify

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/role/prepare"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/classify"
	"feedmesh/classify/model"
	"feedmesh/classify/spam"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// newClassifierActor returns a classifier actor with the shipped rules and additional ones.
func newClassifierActor(t *testing.T, out subjects.Publisher, rules string) *classifier {
	t.Helper()
	set, err := classify.Overlay([]byte("-- own.rules --\n" + rules))
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := classify.Compile(set)
	if err != nil {
		t.Fatal(err)
	}
	c := &classify.Classifier{Rules: compiled, Spam: spam.Default(), Model: model.Default()}
	return &classifier{classifier: func() *classify.Classifier { return c }, habits: spam.NewHistoryCache(1 << 20), out: out}
}

// itemsIn returns items in the languages of s, "-" for none.
func itemsIn(s string) []storage.Item {
	var items []storage.Item
	for _, lang := range strings.Fields(s) {
		items = append(items, storage.Item{Language: strings.Trim(lang, "-")})
	}
	return items
}

func TestPartitionOf(t *testing.T) {
	for _, test := range []struct{ feed, items, want string }{
		{"en", "en en ru", "en"},
		{"en", "ru en ru", "ru"},
		{"en", "ru en", "en"}, // ties are resolved by name
		{"en", "en ru", "en"},
		{"ru", "de fr fr de", "de"},
		{"ru", "fr de de fr", "de"},
		{"ru", "- - en", "ru"}, // without a language: the feed's
		{"", "- -", "other"},
		{"ja", "ja ja en", "other"},
		{"", "pl cs en en", "en"}, // languages that share a partition count together
		{"", "pl cs uk", "other"},
		{"", "uk pl uk cs", "other"},
		{"en", "", "other"},
	} {
		task := subjects.Classify{Document: subjects.Document{Language: test.feed}, Items: itemsIn(test.items)}
		if got := partitionOf(task); got != test.want {
			t.Errorf("feed in %q, items in %q: got partition %s, want %s", test.feed, test.items, got, test.want)
		}
		slices.Reverse(task.Items)
		if got := partitionOf(task); got != test.want {
			t.Errorf("feed in %q, items in %q in reverse order: got partition %s, want %s", test.feed, test.items, got, test.want)
		}
	}
}

func TestClassify_LabelsWithReasons(t *testing.T) {
	out := &worktest.Outbox{}
	task := subjects.Prepare{
		Document: subjects.Document{Receipt: worktest.ReceiptOf("f"), URL: worktest.Blog, Title: "Blog", Language: "en"},
		Entries: []subjects.Entry{
			{Key: "k", Title: "Linux kernel 7.0 released", HTML: "<p>Linus Torvalds has released version 7.0 of the Linux kernel, with new drivers and a faster scheduler.</p>"},
			{Key: "s", Title: "Casino bonus: win real money now", HTML: "<p>Best online casino bonus, viagra without prescription, payday loans. Buy now! Click here to win money.</p>"},
			{Key: "n", Title: "Of this and that", HTML: "<p>It was nothing much, and it went on.</p>"},
		},
	}
	if err := prepare.NewActor(&work.Env{}, out).Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if err := newClassifierActor(t, out, "").Receive(t.Context(), worktest.Only(t, out, subjects.ClassifyQueue)); err != nil {
		t.Fatal(err)
	}
	got := worktest.Only(t, out, subjects.ClusterQueue)
	if len(got.Items) != 3 || got.Partition != "en" || got.Receipt != task.Receipt || got.ID() != task.Document.ID() {
		t.Fatalf("got %+v, want three items in partition en, with the receipt", got)
	}
	kernel, advert, nothing := got.Items[0], got.Items[1], got.Items[2]
	if kernel.Spam || len(kernel.Categories) == 0 || len(kernel.Reasons) == 0 {
		t.Errorf("kernel release: got spam %t, categories %v, reasons %v; want a category with its reason", kernel.Spam, kernel.Categories, kernel.Reasons)
	}
	if !advert.Spam || len(advert.Reasons) == 0 {
		t.Errorf("casino advertisement: got spam %t, reasons %v; want spam with its reason", advert.Spam, advert.Reasons)
	}
	if nothing.Spam || len(nothing.Categories)+len(nothing.Topics) != 0 {
		t.Errorf("neutral item: got %+v, want no labels", nothing)
	}
	for _, item := range got.Items {
		if item.Partition != "en" || item.Title == "" || item.HTML == "" {
			t.Errorf("got %+v, want the item otherwise unchanged, in partition en", item)
		}
	}
}

// Rules on feed tags apply to tags in the store, and their notifications are published.
func TestClassify_FeedTagRulesNotifyAndMute(t *testing.T) {
	out := &worktest.Outbox{}
	l := newClassifierActor(t, out, "for feed-tag:Jobs\nnotify \"somebody hires\" when hiring\nmute when title:hiring")
	document := subjects.Document{Receipt: worktest.ReceiptOf("f"), URL: worktest.Blog, FeedTags: []string{"Jobs"}}
	item := storage.Item{ID: "f.k", FeedID: "f", Title: "We are hiring", URL: "http://blog.example/1", FirstSeen: worktest.Noon}
	for _, tags := range [][]string{{"Jobs"}, {"News"}} {
		document.FeedTags = tags
		if err := l.Receive(t.Context(), subjects.Classify{Document: document, Items: []storage.Item{item}}); err != nil {
			t.Fatal(err)
		}
	}
	var events []subjects.Event
	for _, m := range out.Messages {
		if m.Subject == "events.item.notify" {
			var e subjects.Event
			if err := json.Unmarshal(m.Data, &e); err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	want := subjects.Event{Kind: "item.notify", At: worktest.Noon, Text: "somebody hires", ItemID: "f.k", FeedID: "f", Title: item.Title, URL: item.URL}
	if len(events) != 1 || events[0] != want {
		t.Errorf("got events %+v, want only %+v", events, want)
	}
	labelled := worktest.Sent(t, out, subjects.ClusterQueue)
	if len(labelled) != 2 || !slices.Contains(labelled[0].Items[0].Flags, "muted") || len(labelled[1].Items[0].Flags) != 0 {
		t.Errorf("got %+v, want only the item of the tagged feed muted", labelled)
	}
}

// receiptOf returns the receipt of a feed's document.

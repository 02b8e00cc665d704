package storagetest

import (
	"fmt"
	"strings"

	"feedmesh/storage"
)

// withText returns an item with the text in every field that a publisher may fill.
func withText(feedID, key, text string) storage.Item {
	i := anItem(feedID, key)
	i.Title, i.HTML, i.Excerpt, i.Author = text, text, text, text
	i.Categories, i.Topics = []string{text}, []string{text, text}
	i.Tags, i.Images, i.Reasons = []string{text, text}, []string{text}, []string{text}
	i.Comments, i.Source, i.Enclosures = text, text, []storage.Enclosure{{URL: text, Type: text}}
	return i
}

func strangeText(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	texts := []string{
		"🦊 👩‍👩‍👧‍👦 e\u0301 Ёлка 中文 \u202eright to left", "'; DROP TABLE items; --", `"quoted" \ {"json": [1]} %s ? $1 :a @b`,
		"lines\r\nand\ttabs\v", "\x01\x02\x1b[31m\x7f", "\ufeff\ufffd\uffff\U0010ffff", " space around ",
		"2026-03-01T12:00:00Z", "0", "1e3", "null", "x'00'", "<>&", `\u0026`, "",
	}
	for _, text := range texts {
		key := "key " + text
		want := withText(feedID, key, text)
		c.put(want)
		c.wantEqual(fmt.Sprintf("the item with %q", text), c.item(want.ID), want)
		hashes, err := c.ItemHashes(c.Context(), feedID, []string{key})
		if err != nil || hashes[key] != want.Hash {
			c.Errorf("the key %q has hashes %v, %v", key, hashes, err)
		}
	}
	c.wantEqual("the number of items", c.feed(feedID).Items, int64(len(texts)))
}

func textWithNUL(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	input := withText(feedID, "key", "before\x00after")
	c.putBatch(storage.Batch{FeedID: feedID, Items: []storage.Item{input}, Title: "a\x00feed"})
	got := c.item(input.ID)
	for _, text := range []string{got.Title, got.HTML, got.Excerpt, got.Author, got.Tags[0], got.Tags[1], got.Images[0], got.Reasons[0],
		got.Comments, got.Source, got.Enclosures[0].URL, got.Enclosures[0].Type} {
		if text != "before\x00after" && text != "beforeafter" {
			c.Errorf("text with a NUL: got %q", text)
		}
	}
	if title := c.feed(feedID).Title; title != "a\x00feed" && title != "afeed" {
		c.Errorf("feed title: got %q", title)
	}
}

// brokenText stores text that the prepare role never lets through. An engine may reject the batch or repair
// the text, but other items must be stored.
func brokenText(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	before := anItem(feedID, "before")
	c.put(before)
	broken := withText(feedID, "broken", "a\xff\xfe\xc3b\xed\xa0\x80")
	if stored, err := c.PutItems(c.Context(), storage.Batch{FeedID: feedID, Items: []storage.Item{broken}}); err == nil {
		c.wantIDs("the new items", stored.New, []storage.Item{broken})
		if got := c.item(broken.ID); !strings.HasPrefix(got.Title, "a") || !strings.Contains(got.Title, "b") {
			c.Errorf("broken title: got %q", got.Title)
		}
	}
	after := anItem(feedID, "after")
	c.put(after)
	c.wantEqual("the item before", c.item(before.ID), before)
	c.wantEqual("the item after", c.item(after.ID), after)
	page, err := c.ListItems(c.Context(), storage.ItemQuery{Partition: "en", From: day}, storage.Item{}, 10)
	if err != nil || int64(len(page)) != c.feed(feedID).Items {
		c.Errorf("the partition has %d items, %v; want all %d", len(page), err, c.feed(feedID).Items)
	}
}

func muchText(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	want := anItem(feedID, "key")
	want.HTML = strings.Repeat("<p>Много текста, much of it &amp; more.</p>\n", 1<<20/48)
	other := anItem(feedID, "neighbour")
	c.put(want, other)
	if got := c.item(want.ID); got.HTML != want.HTML {
		c.Errorf("got %[2]d other bytes for %[1]d stored", len(want.HTML), len(got.HTML))
	}
	c.wantEqual("its neighbour", c.item(other.ID), other)
	want.Hash, want.Revision, want.HTML = "hash-2", 2, "short"
	c.put(want)
	c.wantEqual("the short revision", c.item(want.ID), want)
}

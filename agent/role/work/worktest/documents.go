package worktest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/near"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Compressed returns a body compressed as in a task.
func Compressed(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(body)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Hub is the address of a hub.
const Hub = "https://hub.example/"

// Blog is the address of a feed.
const Blog = "http://blog.example/feed"

// ParseTask returns the task to parse a document of the blog.
func ParseTask(t *testing.T, body string) subjects.Parse {
	t.Helper()
	return subjects.Parse{
		Receipt: subjects.Receipt{
			FeedID: storage.FeedID(Blog), Crawl: "c1", Fetched: Noon, Status: 200,
			ETag: `"1"`, LastModified: "then", BodyHash: "hash",
		},
		URL: Blog, Body: Compressed(t, []byte(body)),
	}
}

// RSS returns a document with entries of these titles and contents.
func RSS(titles string, content func(title string) string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>Blog</title><link>http://blog.example/</link><language>en-us</language>`)
	for _, title := range strings.Fields(titles) {
		fmt.Fprintf(&b, "<item><guid>%s</guid><title>%s</title><description>%s</description><pubDate>%s</pubDate></item>",
			title, title, content(title), Noon.AddDate(0, 0, -int(title[0]-'a')).Format(time.RFC1123Z))
	}
	return b.String() + "</channel></rss>"
}

// Plainly returns the content of an entry for [RSS].
func Plainly(title string) string { return "about " + title }

// Titles returns the entries' titles, each followed by a space.
func Titles(entries []subjects.Entry) string {
	s := ""
	for _, e := range entries {
		s += e.Title + " "
	}
	return s
}

// ReceiptOf returns the receipt of a fetch at [Noon].
func ReceiptOf(feedID string) subjects.Receipt {
	return subjects.Receipt{FeedID: feedID, Crawl: "c1", Fetched: Noon, Status: 200, ETag: `"1"`, LastModified: "then", BodyHash: "hash"}
}

// Item returns an item as cluster receives it. Items with equal texts or pages are duplicates.
func Item(feedID, key, page, text string) storage.Item {
	item := storage.Item{
		ID: storage.ItemID(feedID, key), FeedID: feedID, Key: key, Hash: "h-" + key + text, Partition: "en",
		Title: WordsOf(feedID + key), Published: Noon, FirstSeen: Noon,
	}
	if page != "" {
		item.URL = "https://pages.example/" + page
	}
	if text != "" {
		item.TextHash = near.TextHash(text, "some words that are long enough to say something about "+text)
	}
	return item
}

// WordsOf returns four words unique to a text.
func WordsOf(of string) string {
	sum := sha256.Sum256([]byte(of))
	words := make([]string, 4)
	for i := range words {
		for _, b := range sum[4*i : 4*i+4] {
			words[i] += string('a'+rune(b%16)) + string('a'+rune(b/16))
		}
	}
	return strings.Join(words, " ")
}

// ClusterTask returns the task with a feed's items of a crawl.
func ClusterTask(feedID string, crawl int, items ...storage.Item) subjects.Cluster {
	r := ReceiptOf(feedID)
	r.Crawl = fmt.Sprint("c", crawl)
	return subjects.Cluster{Document: subjects.Document{Receipt: r, Rate: 3, Title: "Title", Site: "http://blog.example/", Language: "en"}, Partition: "en", Items: items}
}

// FeedURL returns the URL of the i-th feed, on its own host.
func FeedURL(i int) string { return fmt.Sprintf("http://host%d.example/feed", i) }

// ManyFeeds returns a store with n feeds, each on its own host.
func ManyFeeds(t *testing.T, n int) storage.Store {
	t.Helper()
	urls := make([]string, n)
	for i := range urls {
		urls[i] = FeedURL(i)
	}
	return StoreWith(t, urls...)
}

package feed_test

import (
	"fmt"
	"time"

	"feedmesh/agent/role/parse/feed"
)

// Parse repairs common damage: here a bare ampersand, and the missing end of the document.
func ExampleParse() {
	body := []byte(`<?xml version="1.0"?>
<rss version="2.0"><channel><title>Cats & dogs</title><link>https://example.org/</link><ttl>60</ttl>
<item><guid>1</guid><title>First</title><link>/1</link><pubDate>Wed, 04 Mar 2026 05:06:07 GMT</pubDate></item>
<item><guid>2</guid><title>Sec`)
	d, err := feed.Parse(body, "application/rss+xml", "https://example.org/feed")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Title)
	for _, e := range d.Entries {
		fmt.Println(e.Key, e.Title, e.Link, e.Published.Format(time.DateTime))
	}
	fmt.Println("poll interval:", d.TTL)
	fmt.Println("repaired:", d.Malformed)
	// Output:
	// Cats & dogs
	// guid:1 First https://example.org/1 2026-03-04 05:06:07
	// poll interval: 1h0m0s
	// repaired: it is cut off, bare ampersands
}

// The kind of an error distinguishes web pages and other documents from damaged feeds.
func ExampleParse_error() {
	_, err := feed.Parse([]byte("<!doctype html><title>Home</title>"), "text/html", "https://example.org/")
	fmt.Println(err)
	// Output:
	// this is a web page, not a feed
}

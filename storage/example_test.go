package storage_test

import (
	"errors"
	"fmt"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A query finds spam only if it requests spam, by a field or in its text.
func ExampleQuery_IncludesFlag() {
	for _, text := range []string{"kernel", "kernel is:spam"} {
		where, err := query.Parse(text, time.Now())
		if err != nil {
			fmt.Println(err)
			continue
		}
		q := storage.Query{Where: where}
		fmt.Println(text, "includes spam:", q.IncludesFlag(storage.FlagSpam))
	}
	// Output:
	// kernel includes spam: false
	// kernel is:spam includes spam: true
}

// The cursor of a page contains the position of its last story. It is valid only for lists in the same order.
func ExampleStoryQuery_SplitPage() {
	q := storage.StoryQuery{Limit: 2}
	stories := []storage.Story{{ID: "a", Rank: 3}, {ID: "b", Rank: 2}, {ID: "c", Rank: 1}} // one more than a page
	page, next := q.SplitPage(stories)
	fmt.Println("stories on the page:", len(page))

	q.Cursor = next
	position, err := q.Position()
	fmt.Println("next page after:", position.ID, err)

	q.Newest = true
	_, err = q.Position()
	fmt.Println("in another order:", errors.Is(err, storage.ErrBadCursor))
	// Output:
	// stories on the page: 2
	// next page after: b <nil>
	// in another order: true
}

// Different spellings of a URL have the same canonical form, and so the same feed ID.
func ExampleCanonicalURL() {
	for _, raw := range []string{"Example.org/feed", "https://EXAMPLE.org:443/feed#top", "ftp://example.org/"} {
		url, err := storage.CanonicalURL(raw)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(url, storage.FeedID(url))
	}
	// Output:
	// https://example.org/feed c6zfqcrfhnxm7xeubyd6jffuvy
	// https://example.org/feed c6zfqcrfhnxm7xeubyd6jffuvy
	// "ftp://example.org/" is not a web address: it must start with http:// or https://
}

package text_test

import (
	"fmt"
	"net/url"

	"feedmesh/classify/text"
)

func ExampleRules_Clean() {
	base, err := url.Parse("https://example.org/blog/")
	if err != nil {
		panic(err)
	}
	c := text.Default().Clean(`<p onclick="x()">See <a href="post?utm_source=rss">the post</a><script>x()</script>`, base, "https://example.org/feed")
	fmt.Println(c.HTML)
	fmt.Println(c.Text)
	// Output:
	// <p>See <a href="https://example.org/blog/post" rel="nofollow noopener noreferrer">the post</a></p>
	// See the post
}

func ExampleExcerpt() {
	fmt.Println(text.Excerpt("Go 1.26 is released with many improvements", 20))
	// Output: Go 1.26 is released…
}

func ExampleWords() {
	for _, w := range text.Words("Don't use C++!") {
		fmt.Println(w.Text, w.Start, w.End)
	}
	// Output:
	// don't 0 5
	// use 6 9
	// c++ 10 13
}

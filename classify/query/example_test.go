package query_test

import (
	"fmt"
	"time"

	"feedmesh/classify/query"
)

func ExampleParse() {
	now := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	tree, err := query.Parse(`rust OR "go modules" lang:en age:<2d -is:duplicate`, now)
	if err != nil {
		panic(err)
	}
	fmt.Println(tree)
	_, err = query.Parse("rust lang:english", now)
	fmt.Println(err)
	// Output:
	// rust OR "go modules" lang:en after:2026-03-08 -is:duplicate
	// lang: takes a two-letter code, such as lang:en
}

func ExampleMatches() {
	tree, err := query.Parse("run* host:example.org", time.Now())
	if err != nil {
		panic(err)
	}
	fmt.Println(query.Matches(tree, &query.Document{Title: "Running Go", URL: "https://blog.example.org/1"}))
	fmt.Println(query.Matches(tree, &query.Document{Title: "Running Go", URL: "https://example.com/1"}))
	// Output:
	// true
	// false
}

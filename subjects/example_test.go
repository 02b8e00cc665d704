package subjects_test

import (
	"fmt"

	"feedmesh/subjects"
)

// A task is encoded to a message of its queue, and decoded by the worker that receives it.
func ExampleQueue() {
	task := subjects.Crawl{Tier: subjects.Hot, Feeds: []subjects.Target{{FeedID: "f1", URL: "https://example.org/feed"}}}
	message, err := subjects.CrawlQueue.Message(task).Encoded()
	if err != nil {
		fmt.Println(err)
		return
	}
	received, err := subjects.CrawlQueue.Decode(message.Data)
	fmt.Println(message.Subject, received.Feeds[0].URL, message.ID == received.ID(), err)
	// Output: crawl.hot https://example.org/feed true <nil>
}

// A queue retries failed tasks with growing delays.
func ExampleQueue_Delay() {
	for attempt := 1; attempt <= 4; attempt++ {
		fmt.Println(subjects.CrawlQueue.Delay(attempt))
	}
	// Output:
	// 1s
	// 5s
	// 30s
	// 30s
}

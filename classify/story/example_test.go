package story_test

import (
	"fmt"
	"time"

	"feedmesh/classify/story"
)

func Example() {
	clusters := story.New(story.Default(), story.DefaultLimits(), story.IDs{
		Event: func(itemID string) string { return "event-" + itemID },
		Story: func(eventID string) string { return "story of " + eventID },
	})
	begin := time.Unix(1_700_000_000, 0)
	for n, title := range []string{
		"Magnitude 7 earthquake shakes the coast of Chile",
		"Chile: strong earthquake shakes the coast",
		"Central bank raises interest rates again",
	} {
		id := fmt.Sprint(n + 1)
		placement := clusters.Place(story.Item{
			ID: id, Title: title, Language: "en", Host: id + ".example", Seen: begin.Add(time.Duration(n) * time.Minute),
		})
		fmt.Printf("item %s: %s, by %q\n", id, placement.EventID, placement.Reason.By)
	}
	// Output:
	// item 1: event-1, by "first"
	// item 2: event-1, by "near"
	// item 3: event-3, by "first"
}

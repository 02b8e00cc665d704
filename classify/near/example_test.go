package near_test

import (
	"fmt"
	"time"

	"feedmesh/classify/near"
)

func Example() {
	settings := near.Default()
	index := near.NewIndex(settings)
	place := func(id, feed, title, text string) {
		match := index.Place(near.Signature{
			ItemID: id, FeedID: feed, TextHash: near.TextHash(title, text), Seen: time.Unix(1_700_000_000, 0),
			Sketch: settings.Sketch(title, text),
		})
		if match.DuplicateOf == "" {
			fmt.Println(id, "is new")
			return
		}
		fmt.Printf("%s duplicates %s by its %s: %s\n", id, match.DuplicateOf, match.By, match.Reason)
	}
	place("1", "wire", "Oil prices rise after OPEC cuts output", "")
	place("2", "mirror", "UPDATE 1-Oil prices rise after OPEC cuts output - Reuters", "")
	place("3", "wire", "Heavy snow closes the airport in Oslo", "")
	// Output:
	// 1 is new
	// 2 duplicates 1 by its title: same title but for the publisher's tail or a wire's head
	// 3 is new
}

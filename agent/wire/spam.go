package wire

import (
	"time"

	"feedmesh/storage"
)

// A SpamPage is a page of spam, last judged first.
type SpamPage struct {
	Items []SpamItem `json:"items"`
	Total int64      `json:"total" doc:"Number of spam items on all pages."`
	Next  string     `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}

// A SpamItem is an item that is spam, without its HTML.
type SpamItem struct {
	storage.Item
	FeedTitle string    `json:"feed_title"`
	Judged    time.Time `json:"judged" doc:"When it became spam."`
}

// SpamLists describes the rules of the spam filter in force.
type SpamLists struct {
	Version   int64     // 0: built-in
	Note      string    // note of the version; after training, its quality
	Changed   time.Time // zero for built-in
	Threshold float64   // spam score from which an item is spam, unless its feed sets its own
}

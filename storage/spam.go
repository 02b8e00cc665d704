package storage

import (
	"context"
	"time"
)

// Spam is the part of a [Store] that lists spam items. They remain stored with their keys, so that the next
// poll does not store them again as new. Only removing the feed deletes them.
type Spam interface {
	// ListSpam returns at most limit spam items that match the query, newest Judged first, then by ID, and the
	// total number of matches. after is the last item of the previous page, or the zero SpamItem; it need not
	// be spam any more.
	ListSpam(ctx context.Context, query SpamQuery, after SpamItem, limit int) (page []SpamItem, total int64, err error)
}

// A SpamQuery selects spam items. The zero SpamQuery selects all.
type SpamQuery struct {
	FeedID string // of the items; empty: any feed
}

// A SpamItem is a spam item with the time of its classification.
type SpamItem struct {
	Item
	Judged time.Time `json:"judged"` // when it became spam; later passes and moves that leave it spam keep this time
}

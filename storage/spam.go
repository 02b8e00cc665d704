package storage

import (
	"context"
	"time"
)

// Spam is the part of a [Store] that lists what was judged to be spam. Such items
// are listed apart, yet stay where they are, so that the store knows their keys
// and they are not taken for new. Nothing but removing the feed deletes them.
type Spam interface {
	// ListSpam returns at most limit items that are spam and match the query,
	// newest Judged first, then by ID. after is the last of the page before, or
	// the zero SpamItem; it may be spam no more.
	ListSpam(ctx context.Context, query SpamQuery, after SpamItem, limit int) ([]SpamItem, error)

	// CountSpam returns how many items are spam and match the query.
	CountSpam(ctx context.Context, query SpamQuery) (int64, error)
}

// A SpamQuery says which spam to list. The zero SpamQuery lists all.
type SpamQuery struct {
	FeedID string // of the items; empty is any
}

// A SpamItem is an item that is spam.
type SpamItem struct {
	Item
	Judged time.Time `json:"judged"` // when it became spam: later passes and moves that leave it spam leave this
}

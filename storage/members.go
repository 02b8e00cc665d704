package storage

import (
	"context"
	"time"
)

// Members is the part of a [Store] that stores which items views have. Items that a view had and has no more stay as
// absent members, so that an item that enters again is not new to those who read the view. A single writer under a fence
// decides which items enter.
type Members interface {
	// MembersOfItems returns the present and absent members that are one of the items.
	MembersOfItems(ctx context.Context, itemIDs ...string) ([]Member, error)

	// MembersOfStories returns the present members of these views whose items are in one of the stories.
	MembersOfStories(ctx context.Context, views []int64, stories ...string) ([]RelatedMember, error)

	// MembersOfOriginals returns the present members of these views that are one of these items and no duplicate, or
	// a duplicate of one.
	MembersOfOriginals(ctx context.Context, views []int64, originals ...string) ([]RelatedMember, error)

	// ChangeMembers stores a batch of members, replacing those of the same view and item, and deletes all members that are one
	// of the items in gone, in one transaction. Members with Serial 0 get the next serials in their order here, which are
	// greater than all before, also those of deleted members. Missing items are stored all the same. It returns [ErrFenced] under an
	// outdated fence; then nothing is changed.
	ChangeMembers(ctx context.Context, fence Fence, members []Member, gone []string) error

	// ListMembers returns at most limit present members that match the query, in its order, after a member of the
	// previous page or the zero Member.
	ListMembers(ctx context.Context, query MemberQuery, after Member, limit int) ([]Member, error)

	// CountMembers returns, by view, the number of present members published at or after since. Views without
	// members are left out.
	CountMembers(ctx context.Context, since time.Time, views ...int64) (map[int64]int64, error)

	// RemoveMembers deletes a batch of at most limit members of a view published before a time, or any if it is zero, and returns
	// their number. It returns [ErrFenced] under an outdated fence.
	RemoveMembers(ctx context.Context, fence Fence, view int64, before time.Time, limit int) (int, error)

	// ViewsWithMembers returns the numbers of all views with present or absent members, in order.
	ViewsWithMembers(ctx context.Context) ([]int64, error)
}

// A Member is an item of a view.
type Member struct {
	View      int64 // Number of the [View]
	ItemID    string
	Serial    int64     // in order of entry, over all views; from 1
	Entered   time.Time // for the first time
	Published time.Time // [Item.Time]
	Past      bool      // notifications skip it: it was old when it entered
	Absent    bool      // it is not in the view any more

	// The story and the original of the item when it was last evaluated, where other members depend on them; else empty.
	StoryID, OriginalID string
}

// A RelatedMember is a present member with the story or original by which it was found.
type RelatedMember struct {
	Of     string // ID of the story or original
	View   int64
	ItemID string
	Serial int64

	Published time.Time
}

// A MemberQuery selects the present members of a view, ordered by Published, the last first, then by item ID.
type MemberQuery struct {
	View   int64
	Since  time.Time // published at or after
	Oldest bool      // in the reverse order
}

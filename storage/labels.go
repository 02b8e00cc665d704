package storage

import (
	"context"
	"slices"
)

// Muted is the flag of items that are kept, and shown to those only who ask.
const Muted = "muted"

// Labels are what an [Item] is thought to be: all that a pass over stored items
// decides anew.
type Labels struct {
	ItemID     string   `json:"item_id"`
	Spam       bool     `json:"spam,omitempty"`
	SpamScore  float64  `json:"spam_score,omitempty"`
	Flags      []string `json:"flags,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Topics     []string `json:"topics,omitempty"`
	Why        []string `json:"why,omitempty"`
	Score      float64  `json:"score,omitempty"`
	Sentiment  float64  `json:"sentiment,omitempty"`
}

// Relabels is the part of a [Store] that replaces labels, and takes that back.
type Relabels interface {
	// Relabel replaces the labels of the items with these IDs, in one
	// transaction, and returns the IDs of those that have others now, in order
	// of ID: they alone have Changed. Items that are not there, and those that a
	// person corrected, stay as they are. Of labels for one item the last count.
	//
	// Unless job is empty, what labels such an item had is kept under the job,
	// until [Relabels.UndoRelabel] or [Relabels.ForgetRelabel], until a person
	// corrects the item, or until the store forgets the job ([Jobs.PutJob]).
	// Where the job has kept something of the item before, that stays.
	Relabel(ctx context.Context, job string, labels ...Labels) (changed []string, err error)

	// UndoRelabel gives at most limit items back the labels that are kept under
	// the job, in one transaction, and forgets those. It returns their IDs, in
	// order of ID, and none once it is done.
	UndoRelabel(ctx context.Context, job string, limit int) (restored []string, err error)

	// ForgetRelabel forgets what labels are kept under the job.
	ForgetRelabel(ctx context.Context, job string) error
}

// LabelsOf returns the item's labels. They share its lists.
func LabelsOf(item Item) Labels {
	return Labels{
		ItemID: item.ID, Spam: item.Spam, SpamScore: item.SpamScore, Flags: item.Flags,
		Categories: item.Categories, Topics: item.Topics, Why: item.Why, Score: item.Score, Sentiment: item.Sentiment,
	}
}

// On returns the item with these labels in place of its own, whatever ItemID is.
func (l Labels) On(item Item) Item {
	item.Spam, item.SpamScore, item.Flags = l.Spam, l.SpamScore, l.Flags
	item.Categories, item.Topics, item.Why = l.Categories, l.Topics, l.Why
	item.Score, item.Sentiment = l.Score, l.Sentiment
	return item
}

// Equal reports whether both say the same of the same item. Nil lists are empty.
func (l Labels) Equal(other Labels) bool {
	return l.ItemID == other.ItemID && l.Spam == other.Spam && l.SpamScore == other.SpamScore &&
		slices.Equal(l.Flags, other.Flags) && slices.Equal(l.Categories, other.Categories) &&
		slices.Equal(l.Topics, other.Topics) && slices.Equal(l.Why, other.Why) &&
		l.Score == other.Score && l.Sentiment == other.Sentiment
}

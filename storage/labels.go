package storage

import (
	"context"
	"slices"
)

// FlagMuted is the flag of items that are stored, but shown only on request.
const FlagMuted = "muted"

// Labels are the results of classifying an [Item]: all fields that a new pass over stored items may replace.
type Labels struct {
	ItemID     string   `json:"item_id"`
	Spam       bool     `json:"spam,omitempty"`
	SpamScore  float64  `json:"spam_score,omitempty"`
	Flags      []string `json:"flags,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Topics     []string `json:"topics,omitempty"`
	Reasons    []string `json:"why,omitempty"`
	Score      float64  `json:"score,omitempty"`
	Sentiment  float64  `json:"sentiment,omitempty"`
}

// Relabeling is the part of a [Store] that replaces labels, and undoes that.
type Relabeling interface {
	// Relabel replaces the labels of a batch of items in one transaction, and returns the IDs of those whose
	// labels changed, in order of ID. Only their Changed advances. Missing items and items corrected by a
	// user are left unchanged. The last labels of an item win.
	//
	// Unless job is empty, the previous labels are stored under the job, until [Relabeling.UndoRelabel],
	// until a user corrects the item, or until the store deletes the job ([JobRecords.Put]). Labels that the job has stored already are kept.
	Relabel(ctx context.Context, job string, labels ...Labels) (changed []string, err error)

	// UndoRelabel restores the labels stored under the job for a batch of at most limit items, in one
	// transaction, and deletes those undo records. It returns the IDs in order, and none when it is finished.
	UndoRelabel(ctx context.Context, job string, limit int) (restored []string, err error)
}

// LabelsOf returns the item's labels, which share the item's slices.
func LabelsOf(item Item) Labels {
	return Labels{
		ItemID: item.ID, Spam: item.Spam, SpamScore: item.SpamScore, Flags: item.Flags,
		Categories: item.Categories, Topics: item.Topics, Reasons: item.Reasons, Score: item.Score, Sentiment: item.Sentiment,
	}
}

// ApplyTo returns the item with these labels. It ignores ItemID.
func (l Labels) ApplyTo(item Item) Item {
	item.Spam, item.SpamScore, item.Flags = l.Spam, l.SpamScore, l.Flags
	item.Categories, item.Topics, item.Reasons = l.Categories, l.Topics, l.Reasons
	item.Score, item.Sentiment = l.Score, l.Sentiment
	return item
}

// Equal reports whether both are the same labels of the same item. Nil slices equal empty slices.
func (l Labels) Equal(other Labels) bool {
	return l.ItemID == other.ItemID && l.Spam == other.Spam && l.SpamScore == other.SpamScore &&
		slices.Equal(l.Flags, other.Flags) && slices.Equal(l.Categories, other.Categories) &&
		slices.Equal(l.Topics, other.Topics) && slices.Equal(l.Reasons, other.Reasons) &&
		l.Score == other.Score && l.Sentiment == other.Sentiment
}

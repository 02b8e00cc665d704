package storage

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Corrections is the part of a [Store] that stores users' corrections of labels.
type Corrections interface {
	// Correct applies a correction with [Correction.ApplyTo] and stores it. From then on the item is
	// Corrected, and neither passes nor revisions change its labels. Unset parts leave the item's labels as
	// they are, even those from an earlier correction. Undo records of the item ([Relabeling]) are deleted.
	// It returns the updated item, or [ErrNotFound].
	Correct(ctx context.Context, correction Correction) (Item, error)

	// Corrections returns at most limit corrections, ordered by At, oldest first, then by ItemID. Corrections
	// of an item are merged: the newest value of each part, with the newest At and By. after is the last
	// correction of the previous page, or the zero Correction.
	Corrections(ctx context.Context, after Correction, limit int) ([]Correction, error)

	// RemoveCorrection deletes the correction of the item, and returns the item without Corrected. The next
	// pass may change its labels. It returns [ErrNotFound] if the item does not exist.
	RemoveCorrection(ctx context.Context, itemID string) (Item, error)
}

// A Correction replaces labels of an item on behalf of a user. Without set parts it confirms the item's
// labels.
type Correction struct {
	ItemID     string    `json:"item_id"`
	Spam       *bool     `json:"spam,omitempty"`      // nil: not corrected
	Categories []string  `json:"categories,omitzero"` // best first; nil: not corrected; an empty list: no categories
	Topics     []string  `json:"topics,omitzero"`     // as for Categories
	At         time.Time `json:"at"`
	By         string    `json:"by,omitempty"`
}

// correctionPrefix is the prefix of a correction's reason in [Item.Reasons].
const correctionPrefix = "a person said so: "

// ApplyTo returns the corrected item. Its first reason describes the correction, replacing the reason of an
// earlier one.
func (c Correction) ApplyTo(item Item) Item {
	parts := []string{}
	if c.Spam != nil {
		item.Spam = *c.Spam
		parts = append(parts, map[bool]string{true: "spam", false: "not spam"}[item.Spam])
	}
	if c.Categories != nil {
		item.Categories = slices.Clone(c.Categories)
		parts = append(parts, listText("categories", c.Categories))
	}
	if c.Topics != nil {
		item.Topics = slices.Clone(c.Topics)
		parts = append(parts, listText("topics", c.Topics))
	}
	if len(parts) == 0 {
		parts = append(parts, "right as it is")
	}
	reasons := []string{correctionPrefix + strings.Join(parts, "; ")}
	for _, reason := range item.Reasons {
		if !strings.HasPrefix(reason, correctionPrefix) {
			reasons = append(reasons, reason)
		}
	}
	item.Reasons, item.Corrected = reasons, true
	return item
}

func listText(what string, names []string) string {
	return what + " " + cmp.Or(strings.Join(names, ", "), "none")
}

// Merge returns the combination of this correction with an older correction of the same item: unset parts are
// copied from old.
func (c Correction) Merge(old Correction) Correction {
	if c.Spam == nil {
		c.Spam = old.Spam
	}
	if c.Categories == nil {
		c.Categories = old.Categories
	}
	if c.Topics == nil {
		c.Topics = old.Topics
	}
	c.At = c.At.UTC().Truncate(time.Microsecond)
	return c
}

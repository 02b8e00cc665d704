package storage

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Corrections is the part of a [Store] that remembers what persons said of items.
type Corrections interface {
	// Correct has the item be what a person says, as [Correction.On] has it, and
	// remembers it: from then on the item is Corrected, and neither passes nor
	// revisions change its labels. What it leaves open stays as the item has it,
	// also if a person said so before. What jobs kept of it ([Relabels]) is
	// forgotten. It returns the item as it is now, or [ErrNotFound].
	Correct(ctx context.Context, correction Correction) (Item, error)

	// Corrections returns at most limit corrections, oldest At first, then by
	// ItemID: one of each corrected item, with the newest word on each part and
	// the newest At and By. after is the last of the page before, or the zero
	// Correction.
	Corrections(ctx context.Context, after Correction, limit int) ([]Correction, error)

	// Uncorrect forgets what persons said of the item, and returns it as it is
	// now: no more Corrected, with labels that the next pass may change. It
	// returns [ErrNotFound] if there is no such item.
	Uncorrect(ctx context.Context, itemID string) (Item, error)
}

// A Correction is what a person says of an item. One that leaves all open says
// that the item's labels are right.
type Correction struct {
	ItemID     string    `json:"item_id"`
	Spam       *bool     `json:"spam,omitempty"`      // nil leaves it open
	Categories []string  `json:"categories,omitzero"` // best first; nil leaves them open, an empty list says that there are none
	Topics     []string  `json:"topics,omitzero"`     // likewise
	At         time.Time `json:"at"`
	By         string    `json:"by,omitempty"`
}

// byPerson begins the reason that a correction is.
const byPerson = "a person said so: "

// On returns the item as the correction has it: Corrected, with a reason that
// comes before all others, in place of an earlier person's.
func (c Correction) On(item Item) Item {
	said := []string{}
	if c.Spam != nil {
		item.Spam = *c.Spam
		said = append(said, map[bool]string{true: "spam", false: "not spam"}[item.Spam])
	}
	if c.Categories != nil {
		item.Categories = slices.Clone(c.Categories)
		said = append(said, listed("categories", c.Categories))
	}
	if c.Topics != nil {
		item.Topics = slices.Clone(c.Topics)
		said = append(said, listed("topics", c.Topics))
	}
	if len(said) == 0 {
		said = append(said, "right as it is")
	}
	why := []string{byPerson + strings.Join(said, "; ")}
	for _, reason := range item.Why {
		if !strings.HasPrefix(reason, byPerson) {
			why = append(why, reason)
		}
	}
	item.Why, item.Corrected = why, true
	return item
}

func listed(what string, names []string) string {
	return what + " " + cmp.Or(strings.Join(names, ", "), "none")
}

// After returns what persons said of an item once they have said this after old:
// what it leaves open is as old has it.
func (c Correction) After(old Correction) Correction {
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

package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Bounds of rule sets.
const (
	MaxRules         = 4 << 20 // bytes of a text
	RuleVersionsKept = 50      // of each set, the newest: a model has megabytes
)

// ErrTooLarge says that a text is larger than a [Store] takes.
var ErrTooLarge = errors.New("too large")

// RuleSets is the part of a [Store] that remembers the rules by which items are
// made of entries: texts that people write, each set with its versions.
type RuleSets interface {
	// PutRules stores the text as the next version of its set, forgets all but
	// the last [RuleVersionsKept], and returns the set as it is stored, without
	// its text. Version must be the newest there is, 0 for a new set: what was
	// made from another is refused with [ErrConflict]. A text of more than
	// [MaxRules] bytes is refused with [ErrTooLarge].
	PutRules(ctx context.Context, set RuleSet) (RuleSet, error)

	// Rules returns a version of a set, the newest for version 0, or
	// [ErrNotFound].
	Rules(ctx context.Context, name string, version int64) (RuleSet, error)

	// RuleVersions returns at most limit versions of a set that are older than
	// the one before, newest first, without their texts; all are older than 0.
	RuleVersions(ctx context.Context, name string, before int64, limit int) ([]RuleSet, error)
}

// A RuleSet is one version of a set of rules.
type RuleSet struct {
	Name    string    `json:"name"`
	Version int64     `json:"version"` // from 1
	Text    []byte    `json:"-"`       // as its author wrote it
	Note    string    `json:"note,omitempty"`
	Changed time.Time `json:"changed"` // when it was put, as who put it says
}

// NextRules returns a set, without its text, as the version that comes after the
// newest there is, the zero RuleSet if there is none. Its errors are those of
// [RuleSets.PutRules].
func NextRules(newest, set RuleSet) (RuleSet, error) {
	switch {
	case len(set.Text) > MaxRules:
		return RuleSet{}, fmt.Errorf("rules of %d bytes: %w: at most %d", len(set.Text), ErrTooLarge, MaxRules)
	case set.Version != newest.Version && newest.Version == 0:
		return RuleSet{}, fmt.Errorf("yours were made from version %d, and there is none: %w", set.Version, ErrConflict)
	case set.Version != newest.Version:
		note := ""
		if newest.Note != "" {
			note = fmt.Sprintf(", noted %q", newest.Note)
		}
		return RuleSet{}, fmt.Errorf("yours were made from version %d, and version %d was put at %s%s: %w",
			set.Version, newest.Version, newest.Changed.UTC().Format(time.RFC3339), note, ErrConflict)
	}
	set.Version++
	set.Text, set.Changed = nil, set.Changed.UTC().Truncate(time.Microsecond)
	return set, nil
}

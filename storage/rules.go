package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Limits of rule sets.
const (
	MaxRules        = 4 << 20 // bytes of text
	MaxRuleVersions = 50      // versions kept per set: a model takes megabytes
)

// ErrTooLarge reports that a text exceeds the size limit of a [Store].
var ErrTooLarge = errors.New("too large")

// RuleSets is the part of a [Store] that stores versioned rule sets: texts written by users, by which entries
// become items.
type RuleSets interface {
	// PutRules stores the text as the next version of its set, deletes all but the last [MaxRuleVersions],
	// and returns the stored set without its text. Version must be the newest stored version, 0 for a new
	// set; otherwise it returns [ErrConflict]. It returns [ErrTooLarge] for a text of more than [MaxRules]
	// bytes.
	PutRules(ctx context.Context, set RuleSet) (RuleSet, error)

	// Rules returns a version of a set, the newest for version 0, or [ErrNotFound].
	Rules(ctx context.Context, name string, version int64) (RuleSet, error)

	// RuleVersions returns at most limit versions of a set older than before, newest first, without their
	// texts. Use before 0 to start with the newest.
	RuleVersions(ctx context.Context, name string, before int64, limit int) ([]RuleSet, error)
}

// A RuleSet is one version of a set of rules.
type RuleSet struct {
	Name    string    `json:"name"`
	Version int64     `json:"version"` // from 1
	Text    []byte    `json:"-"`       // as written by its author
	Note    string    `json:"note,omitempty"`
	Changed time.Time `json:"changed"` // when it was stored, by the caller's clock
}

// NextRules validates set against the newest stored version, the zero RuleSet if there is none, and returns
// it as the next version without its text. It returns the errors of [RuleSets.PutRules].
func NextRules(newest, set RuleSet) (RuleSet, error) {
	switch {
	case len(set.Text) > MaxRules:
		return RuleSet{}, fmt.Errorf("rules of %d bytes: %w: at most %d", len(set.Text), ErrTooLarge, MaxRules)
	case set.Version != newest.Version && newest.Version == 0:
		return RuleSet{}, fmt.Errorf("your rules are based on version %d, which does not exist: %w", set.Version, ErrConflict)
	case set.Version != newest.Version:
		note := ""
		if newest.Note != "" {
			note = fmt.Sprintf(" with note %q", newest.Note)
		}
		return RuleSet{}, fmt.Errorf("your rules are based on version %d, but version %d was stored at %s%s: %w",
			set.Version, newest.Version, newest.Changed.UTC().Format(time.RFC3339), note, ErrConflict)
	}
	set.Version++
	set.Text, set.Changed = nil, set.Changed.UTC().Truncate(time.Microsecond)
	return set, nil
}

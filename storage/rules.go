package storage

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Limits of rule sets.
const (
	MaxRules        = 4 << 20 // bytes of text
	MaxRuleVersions = 50      // versions kept per set: a model takes megabytes
)

// A RuleSet is one version of a set of rules.
type RuleSet struct {
	Name    string    `json:"name"`
	Version int64     `json:"version"` // from 1
	Text    []byte    `json:"-"`       // as written by its author
	Note    string    `json:"note,omitempty"`
	Changed time.Time `json:"changed"` // when it was stored, by the caller's clock
}

var ruleTable = tableOf(Table{Name: "rules", Keys: 2, Order: "version DESC", Keep: MaxRuleVersions}, func(r *RuleSet) []Column {
	return []Column{
		{Name: "name", Field: &r.Name}, {Name: "version", Field: &r.Version}, {Name: "note", Field: &r.Note},
		{Name: "changed", Field: &r.Changed}, {Name: "text", Field: &r.Text, Large: true},
	}
})

// RuleSets returns the versioned rule sets of a [Store]: texts written by users, by which entries become
// items.
func RuleSets(of Records) RuleRecords { return RuleRecords{of} }

// RuleRecords are the versioned rule sets of a [Store].
type RuleRecords struct{ records Records }

// Put stores the text as the next version of its set, deletes all but the last [MaxRuleVersions], and returns
// the stored set without its text. Version must be the newest stored version, 0 for a new set; otherwise it
// returns [ErrConflict]. It returns [ErrTooLarge] for a text of more than [MaxRules] bytes.
func (r RuleRecords) Put(ctx context.Context, set RuleSet) (next RuleSet, err error) {
	err = changeRecord(ctx, r.records, ruleTable, func(newest *RuleSet) (*RuleSet, error) {
		if newest == nil {
			newest = &RuleSet{}
		}
		if next, err = NextRules(*newest, set); err != nil {
			return nil, err
		}
		stored := next
		stored.Text = set.Text
		return &stored, nil
	}, set.Name)
	if err != nil {
		return RuleSet{}, err
	}
	return next, nil
}

// Read returns a version of a set, the newest for version 0, or [ErrNotFound].
func (r RuleRecords) Read(ctx context.Context, name string, version int64) (RuleSet, error) {
	if version == 0 {
		return readRecord[RuleSet](ctx, r.records, ruleTable, name)
	}
	return readRecord[RuleSet](ctx, r.records, ruleTable, name, version)
}

// Versions returns at most limit versions of a set older than before, newest first, without their texts. Use
// before 0 to start with the newest.
func (r RuleRecords) Versions(ctx context.Context, name string, before int64, limit int) ([]RuleSet, error) {
	all, err := listRecords[RuleSet](ctx, r.records, ruleTable, allRecords, name) // few, see MaxRuleVersions
	if err != nil {
		return nil, err
	}
	if before != 0 {
		all = slices.DeleteFunc(all, func(set RuleSet) bool { return set.Version >= before })
	}
	return all[:min(len(all), max(limit, 0))], nil
}

// NextRules validates set against the newest stored version, the zero RuleSet if there is none, and returns
// it as the next version without its text. It returns the errors of [RuleRecords.Put].
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

package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
	"feedmesh/classify/rule"
	"feedmesh/storage"
)

// A RuleSetSpec describes a rule set that this program supports.
type RuleSetSpec struct {
	Name    string                  // of the set
	Does    string                  // purpose, in a line
	Check   func(text []byte) error // nil if the text is valid, else all errors, joined
	Default []byte                  // built-in text, in force until a version is saved

	// Warn returns warnings for a valid text. Nil: no warnings.
	Warn func(text []byte) []string

	// Decider returns the decider of a text, with all else as in force here, and the text's rules if it has
	// any. Nil: the set does not decide labels of items.
	Decider func(text []byte) (workbench.Decider, []rule.Rule, error)

	// Learn trains the next text on the newest text and examples. It returns a note on its quality and its
	// figures as JSON. Nil: the set can't be trained.
	Learn func(ctx context.Context, newest []byte, examples workbench.Examples) (next []byte, note string, figures json.RawMessage, err error)
}

// ruleSetSpec returns the set with the given name, or an error that lists all sets.
func (c *core) ruleSetSpec(name string) (RuleSetSpec, error) {
	var names []string
	for _, b := range c.RuleSetSpecs {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return RuleSetSpec{}, errorf(KindNotFound, "there is no rule set %q; there are: %s", name, strings.Join(names, ", "))
}

// decidingSet returns the set with the given name if it decides labels of items.
func (c *core) decidingSet(name string) (RuleSetSpec, error) {
	spec, err := c.ruleSetSpec(name)
	if err != nil || spec.Decider != nil {
		return spec, err
	}
	var others []string
	for _, b := range c.RuleSetSpecs {
		if b.Decider != nil {
			others = append(others, b.Name)
		}
	}
	return spec, errorf(KindInvalid,
		"rules %s do not decide what items are, so there is nothing to try or apply; those that do: %s", name, strings.Join(others, ", "))
}

// trainableSet returns the set with the given name if it can be trained.
func (c *core) trainableSet(name string) (RuleSetSpec, error) {
	spec, err := c.ruleSetSpec(name)
	if err == nil && spec.Learn == nil {
		err = errorf(KindInvalid, "rules %s can't be trained: they are edited manually", name)
	}
	return spec, err
}

// versionText returns the text of a version of a set; version 0 is the newest, or the built-in text without
// any.
func (c *core) versionText(ctx context.Context, spec RuleSetSpec, version int64) (storage.RuleSet, error) {
	set, err := storage.RuleSets(c.Store).Read(ctx, spec.Name, version)
	if errors.Is(err, storage.ErrNotFound) && version == 0 {
		return storage.RuleSet{Name: spec.Name, Text: spec.Default}, nil
	}
	if err != nil {
		return set, fmt.Errorf("version %d of rules %s: %w", version, spec.Name, err)
	}
	return set, nil
}

// newestRules returns the newest version of a set without its text, or the zero value.
func (c *core) newestRules(ctx context.Context, name string) (storage.RuleSet, error) {
	versions, err := storage.RuleSets(c.Store).Versions(ctx, name, 0, 1)
	if err != nil || len(versions) == 0 {
		return storage.RuleSet{}, err
	}
	return versions[0], nil
}

// putVersion stores a valid text as the next version and publishes it to the mesh.
func (c *core) putVersion(ctx context.Context, spec RuleSetSpec, set storage.RuleSet) (wire.SavedRules, error) {
	set.Name, set.Changed = spec.Name, c.Now()
	next, err := storage.RuleSets(c.Store).Put(ctx, set)
	if err != nil {
		return wire.SavedRules{}, fmt.Errorf("rules %s: %w", spec.Name, err)
	}
	err = c.Mesh.PutRules(ctx, spec.Name, func(ctx context.Context) (storage.RuleSet, error) {
		return storage.RuleSets(c.Store).Read(ctx, spec.Name, 0)
	})
	if err != nil { // it is stored; agents with the store publish it again
		c.Log.Warn("rules publication failed, will retry", "rules", spec.Name, "err", err)
	}
	return wire.SavedRules{RuleVersion: versionOf(next), Notified: err == nil}, nil
}

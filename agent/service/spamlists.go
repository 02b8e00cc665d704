package service

import (
	"context"
	"fmt"

	"feedmesh/agent/wire"
	"feedmesh/classify/spam"
)

// spamSet is the rule set of the spam filter.
const spamSet = "spam"

// Lists returns the description of the spam filter in force.
func (s *Spam) Lists(ctx context.Context) (wire.SpamLists, error) {
	spec, err := s.ruleSetSpec(spamSet)
	if err != nil {
		return wire.SpamLists{}, err
	}
	set, err := s.versionText(ctx, spec, 0)
	if err != nil {
		return wire.SpamLists{}, err
	}
	filter, err := spam.Parse(set.Text)
	if err != nil {
		return wire.SpamLists{}, fmt.Errorf("version %d of rules %s can't be read by this program: %w", set.Version, spamSet, err)
	}
	return wire.SpamLists{Version: set.Version, Note: set.Note, Changed: set.Changed, Threshold: filter.Threshold()}, nil
}

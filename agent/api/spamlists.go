package api

import (
	"context"
	"fmt"
	"time"

	"feedmesh/classify/spam"
)

// spamSet is the rule set of the spam filter.
const spamSet = "spam"

// SpamLists describes the rules of the spam filter in force.
type SpamLists struct {
	Version   int64     // 0: built-in
	Note      string    // note of the version; after training, its quality
	Changed   time.Time // zero for built-in
	Threshold float64   // spam score from which an item is spam, unless its feed sets its own
}

// SpamLists returns the description of the spam filter in force.
func (s *Server) SpamLists(ctx context.Context) (SpamLists, error) {
	spec, err := s.ruleSetSpec(spamSet)
	if err != nil {
		return SpamLists{}, err
	}
	set, err := s.versionText(ctx, spec, 0)
	if err != nil {
		return SpamLists{}, err
	}
	filter, err := spam.Parse(set.Text)
	if err != nil {
		return SpamLists{}, fmt.Errorf("version %d of rules %s can't be read by this program: %w", set.Version, spamSet, err)
	}
	return SpamLists{Version: set.Version, Note: set.Note, Changed: set.Changed, Threshold: filter.Threshold()}, nil
}

package api

import (
	"context"
	"fmt"
	"time"

	"feedmesh/classify/spam"
)

// spamSet is the rule set that says what speaks for spam.
const spamSet = "spam"

// SpamLists say by what items are judged to be spam.
type SpamLists struct {
	Version   int64     // 0: the program's own
	Note      string    // of who put it; after training, how good it is
	Changed   time.Time // zero if nobody did
	Threshold float64   // from which score on an item is spam, where its feed says nothing else
}

// SpamLists returns by what items are judged to be spam.
func (s *Server) SpamLists(ctx context.Context) (SpamLists, error) {
	book, err := s.rulebook(spamSet)
	if err != nil {
		return SpamLists{}, err
	}
	set, err := s.versionText(ctx, book, 0)
	if err != nil {
		return SpamLists{}, err
	}
	filter, err := spam.Parse(set.Text)
	if err != nil {
		return SpamLists{}, fmt.Errorf("version %d of rules %s can't be read by this program: %w", set.Version, spamSet, err)
	}
	return SpamLists{Version: set.Version, Note: set.Note, Changed: set.Changed, Threshold: filter.Threshold()}, nil
}

package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/spam"
	"feedmesh/storage"
)

// Spam answers requests about spam.
type Spam struct {
	*core
	corrections *Corrections
}

// Report corrects an item to be spam, and returns it. Rules do not change this, and training uses it.
func (s *Spam) Report(ctx context.Context, in wire.ByID) (wire.ItemView, error) {
	is := true
	return s.corrections.store(ctx, storage.Correction{ItemID: in.ID, Spam: &is})
}

// Release corrects an item not to be spam, and returns it. Rules do not change this, and training uses it.
func (s *Spam) Release(ctx context.Context, in wire.ByID) (wire.ItemView, error) {
	is := false
	return s.corrections.store(ctx, storage.Correction{ItemID: in.ID, Spam: &is})
}

// List returns a page of spam, last judged first. It returns
// [storage.ErrBadCursor] for an invalid cursor.
func (s *Spam) List(ctx context.Context, in wire.ListSpamRequest) (wire.SpamPage, error) {
	after, err := spamAfter(in.Cursor)
	if err != nil {
		return wire.SpamPage{}, err
	}
	items, total, err := s.Store.ListSpam(ctx, storage.SpamQuery{FeedID: in.Feed}, after, in.Limit+1) // one more than shown, to detect that more exist
	if err != nil {
		return wire.SpamPage{}, fmt.Errorf("list spam: %w", err)
	}
	page := wire.SpamPage{Total: total}
	items, more := firstPage(items, in.Limit)
	if more {
		last := items[in.Limit-1]
		page.Next = last.Judged.Format(time.RFC3339Nano) + "/" + last.ID
	}
	titles := s.titles(ctx)
	page.Items = convert(items, func(it storage.SpamItem) wire.SpamItem {
		it.HTML = ""
		return wire.SpamItem{Item: it.Item, FeedTitle: titles(it.FeedID), Judged: it.Judged}
	})
	return page, nil
}

// spamAfter returns the position of a cursor.
func spamAfter(cursor string) (after storage.SpamItem, err error) {
	if cursor == "" {
		return after, nil
	}
	judged, id, is := strings.Cut(cursor, "/")
	if after.Judged, err = time.Parse(time.RFC3339Nano, judged); err != nil || !is {
		return after, storage.ErrBadCursor
	}
	after.ID = id
	return after, nil
}

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

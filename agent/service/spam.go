package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func (s *Server) spamRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/spam", "list-spam", "Items that are spam, each with its reasons", 400, 503), s.listSpam)
	report := op("POST", "/api/items/{id}/spam", "report-spam", "Report an item as spam", 404, 503)
	report.Description = "Rules do not change this, and training uses it."
	huma.Register(api, report, func(ctx context.Context, in *byID) (*body[wire.ItemView], error) { return s.callSpam(ctx, in.ID, true) })
	release := op("DELETE", "/api/items/{id}/spam", "release-spam", "Release an item from spam", 404, 503)
	release.Description = report.Description
	huma.Register(api, release, func(ctx context.Context, in *byID) (*body[wire.ItemView], error) {
		return s.callSpam(ctx, in.ID, false)
	})
}

func (s *Server) callSpam(ctx context.Context, id string, is bool) (*body[wire.ItemView], error) {
	item, err := s.SetSpam(ctx, id, is)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.ItemView]{Body: item}, nil
}

// SetSpam corrects an item to be spam or not, and returns it. The correction overrides rules. It returns
// [storage.ErrNotFound] if the item does not exist.
func (s *Server) SetSpam(ctx context.Context, id string, is bool) (wire.ItemView, error) {
	return s.Corrections.store(ctx, storage.Correction{ItemID: id, Spam: &is})
}

func (s *Server) listSpam(ctx context.Context, in *struct {
	Feed   string `query:"feed" maxLength:"64" doc:"ID of a feed; only its items."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Cursor string `query:"cursor" maxLength:"128" doc:"The value of next of the previous page."`
}) (*body[wire.SpamPage], error) {
	page, err := s.Spam(ctx, in.Feed, in.Cursor, in.Limit)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.SpamPage]{Body: page}, nil
}

// Spam returns a page of at most limit spam items, of one feed if feedID is set. It returns
// [storage.ErrBadCursor] for an invalid cursor.
func (s *Server) Spam(ctx context.Context, feedID, cursor string, limit int) (wire.SpamPage, error) {
	after, err := spamAfter(cursor)
	if err != nil {
		return wire.SpamPage{}, err
	}
	query := storage.SpamQuery{FeedID: feedID}
	items, total, err := s.Store.ListSpam(ctx, query, after, limit+1) // one more than shown, to detect that more exist
	if err != nil {
		return wire.SpamPage{}, fmt.Errorf("list spam: %w", err)
	}
	page := wire.SpamPage{Total: total}
	if len(items) > limit {
		items = items[:limit]
		last := items[limit-1]
		page.Next = last.Judged.Format(time.RFC3339Nano) + "/" + last.ID
	}
	page.Items = make([]wire.SpamItem, len(items))
	titles := s.titles(ctx)
	for i, it := range items {
		it.HTML = ""
		page.Items[i] = wire.SpamItem{Item: it.Item, FeedTitle: titles(it.FeedID), Judged: it.Judged}
	}
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

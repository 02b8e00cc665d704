package console

import (
	"context"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A retentionView shows how long items are kept, and the next purge.
type retentionView struct {
	Kept  locale.Text // in words
	Done  locale.Text // purged items
	Next  locale.Text // the next purge and its time; nil: none
	Feeds []purgedRow // that lose most items next
}

// A purgedRow is a feed that loses items.
type purgedRow struct {
	Title, URL  string
	Items, Text locale.Text
}

// purgedFeedsShown is the number of feeds that lose items on the page.
const purgedFeedsShown = 10

func retentionOf(r wire.Retention, now time.Time) retentionView {
	keep := locale.Composed(r.Keep) // "all" is a word
	v := retentionView{Kept: locale.T("Items are kept: %s.", keep)}
	if len(r.Tags) > 0 {
		v.Kept = locale.T("Items are kept: %s. By tag: %s.", keep, strings.Join(r.Tags, "; "))
	}
	if r.Purged > 0 {
		v.Done = locale.T("%s purged so far, %s stored.", locale.Plural(r.Purged, "item"), locale.Plural(r.Items, "item"))
	}
	if r.Next == nil {
		return v
	}
	v.Next = locale.T("%s are being purged.", describePurge(*r.Next, now))
	if r.Begins.After(now) {
		at, reason := locale.Date(r.Begins.UTC(), "2 January, 15:04 UTC"), locale.Composed(strings.TrimSuffix(r.Reason, "?"))
		v.Next = locale.T("%s will be purged from %s on: %s.", describePurge(*r.Next, now), at, reason)
	}
	for _, f := range r.Next.Feeds[:min(len(r.Next.Feeds), purgedFeedsShown)] {
		v.Feeds = append(v.Feeds, purgedRow{f.Title, feedPath(f.FeedID), locale.Count(f.Items), locale.Bytes(f.Bytes)})
	}
	return v
}

// describePurge returns the size of a purge in words.
func describePurge(p wire.Purge, now time.Time) locale.Text {
	items, size, oldest := locale.Plural(p.Items, "item"), locale.Bytes(p.Bytes), locale.Ago(now.Sub(p.Oldest))
	if p.More {
		return locale.T("At least %s with %s of text, the oldest of %s", items, size, oldest)
	}
	return locale.T("%s with %s of text, the oldest of %s", items, size, oldest)
}

// purgeTimeout is the timeout of the count of a feed's items to purge.
const purgeTimeout = 2 * time.Second

// purgeNote returns what the feed's own setting will delete, in words; nil if that is nothing or unknown.
func purgeNote(ctx context.Context, retention *service.Retention, f wire.Feed, now time.Time) locale.Text {
	if limit, err := storage.ParseKeep(f.Keep); err != nil || limit == (storage.Keep{}) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, purgeTimeout)
	defer cancel()
	p, err := retention.Try(ctx, wire.PurgeTrial{Keep: f.Keep, Feed: f.ID})
	if err != nil || p.Items == 0 {
		return nil
	}
	return locale.T("%s of this feed will be purged by its setting %s, an hour after its change at the earliest.", describePurge(p, now), f.Keep)
}

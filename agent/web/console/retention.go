package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A retentionView shows how long items are kept, and the next purge.
type retentionView struct {
	Kept  string      // in words
	Done  string      // purged items
	Next  string      // the next purge and its time; empty: none
	Feeds []purgedRow // that lose most items next
}

// A purgedRow is a feed that loses items.
type purgedRow struct {
	Title, URL  string
	Items, Text string
}

// purgedFeedsShown is the number of feeds that lose items on the page.
const purgedFeedsShown = 10

func retentionOf(r wire.Retention, now time.Time) retentionView {
	v := retentionView{Kept: "Items are kept: " + r.Keep + "."}
	if len(r.Tags) > 0 {
		v.Kept += " By tag: " + strings.Join(r.Tags, "; ") + "."
	}
	if r.Purged > 0 {
		v.Done = fmt.Sprintf("%s purged so far, %s stored.", plural(r.Purged, "item"), plural(r.Items, "item"))
	}
	if r.Next == nil {
		return v
	}
	v.Next = describePurge(*r.Next, now) + " are being purged."
	if r.Begins.After(now) {
		v.Next = fmt.Sprintf("%s will be purged from %s on: %s.", describePurge(*r.Next, now), r.Begins.UTC().Format("2 January, 15:04 UTC"), strings.TrimSuffix(r.Reason, "?"))
	}
	for _, f := range r.Next.Feeds[:min(len(r.Next.Feeds), purgedFeedsShown)] {
		v.Feeds = append(v.Feeds, purgedRow{f.Title, feedPath(f.FeedID), count(f.Items), size(f.Bytes)})
	}
	return v
}

// describePurge returns the size of a purge in words.
func describePurge(p wire.Purge, now time.Time) string {
	atLeast := ""
	if p.More {
		atLeast = "At least "
	}
	return fmt.Sprintf("%s%s with %s of text, the oldest of %s", atLeast, plural(p.Items, "item"), size(p.Bytes), newTimestamp(p.Oldest, now).Ago)
}

// purgeTimeout is the timeout of the count of a feed's items to purge.
const purgeTimeout = 2 * time.Second

// purgeNote returns what the feed's own setting will delete, in words; empty if that is nothing or unknown.
func purgeNote(ctx context.Context, retention *service.Retention, f wire.Feed, now time.Time) string {
	if limit, err := storage.ParseKeep(f.Keep); err != nil || limit == (storage.Keep{}) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, purgeTimeout)
	defer cancel()
	p, err := retention.Try(ctx, wire.PurgeTrial{Keep: f.Keep, Feed: f.ID})
	if err != nil || p.Items == 0 {
		return ""
	}
	return describePurge(p, now) + " of this feed will be purged by its setting " + f.Keep + ", an hour after its change at the earliest."
}

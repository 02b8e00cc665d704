// Package parse is the role that parses documents and passes on new and changed entries.
package parse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/metric"
	"feedmesh/agent/role/bodycache"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/agent/role/work"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Run parses documents until ctx ends.
func Run(ctx context.Context, env *work.Env) error {
	defer env.Bodies.AddReader()()
	return mesh.Serve(ctx, env.Mesh, subjects.ParseQueue, "", NewActor(env, env.Mesh), env.Workers)
}

// NewActor returns the actor of the parse queue, which publishes to out.
func NewActor(env *work.Env, out subjects.Publisher) mesh.Actor[subjects.Parse] {
	return newParser(env, out)
}

func newParser(env *work.Env, out subjects.Publisher) *parser {
	return &parser{
		feeds: env.Store, items: env.Store, out: out, maxBody: int64(env.Config.Crawl.MaxBody),
		documents: metric.Counters(env.Metrics, "feedmesh_documents_total", "Documents parsed, by outcome: new entries, nothing new, or the kind of error.", "outcome"),
		bodies:    &env.Bodies, fullText: &fullText{tags: env.Config.FullText, depths: env.Mesh.Depths},
	}
}

type parser struct {
	feeds     storage.Feeds
	items     storage.Items
	out       subjects.Publisher
	maxBody   int64
	documents *prometheus.CounterVec // by outcome

	fullText *fullText
	bodies   *bodycache.Cache
}

func (p *parser) Receive(ctx context.Context, task subjects.Parse) error {
	parsed, err := p.parseBody(task)
	if err != nil {
		kind := feed.Broken
		if e := (*feed.Error)(nil); errors.As(err, &e) {
			kind = e.Kind
		}
		return p.unreadable(ctx, task, kind, err)
	}
	document := subjects.Document{
		Receipt: task.Receipt, URL: task.URL,
		Title: parsed.Title, Site: parsed.Site, Language: parsed.Language,
		Dates: newest(dates(parsed.Entries)), Malformed: parsed.Malformed,
	}
	if !task.Pushed() { // a push may contain a part of the feed only
		document.Rate, document.Hints = policy.Rate(dates(parsed.Entries), task.Fetched), hintsOf(task, parsed)
	}
	entries, err := p.newEntries(ctx, task.FeedID, parsed.Entries)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		p.documents.WithLabelValues("nothing new").Inc()
		return work.PublishObservation(ctx, p.out, "parse", subjects.Observation{
			Receipt: task.Receipt, Outcome: subjects.Nothing, Rate: document.Rate, Dates: document.Dates, Hints: document.Hints,
			Malformed: document.Malformed,
		})
	}
	p.documents.WithLabelValues("new entries").Inc()
	entries, all := fitMessage(entries)
	if !all {
		// The next poll must fetch the document again for the other entries.
		document.ETag, document.LastModified, document.BodyHash = "", "", ""
	}
	stored, err := p.storedFeed(ctx, task.FeedID)
	if err != nil {
		return err
	}
	document.FeedTags, document.FeedCategories, document.SpamThreshold = stored.Tags, stored.Categories, stored.SpamThreshold
	if stored.Items == 0 && stored.Purged == 0 && !task.Known && !task.Pushed() { // a push announces news
		document.Undated = undated(dates(parsed.Entries), task.Fetched)
	}
	if p.fullText.isEnabled(ctx, document) {
		return work.PublishParts(ctx, p.out, subjects.PageQueue, document, entries, func(d subjects.Document, e []subjects.Entry) subjects.Page {
			return subjects.Page{Document: d, Entries: e, Route: task.Route}
		})
	}
	return work.PublishEntries(ctx, p.out, document, entries)
}

// parseBody parses the task's body. The result does not alias the body, which is recycled on return.
func (p *parser) parseBody(task subjects.Parse) (feed.Document, error) {
	body := p.bodies.Take(task.BodyHash)
	if body == nil {
		body = p.bodies.Buffer()
		if err := fetch.DecompressTo(body, task.Body, p.maxBody); err != nil {
			return feed.Document{}, err
		}
	}
	defer p.bodies.Recycle(body)
	return feed.Parse(body.Bytes(), task.ContentType, task.URL)
}

// brokenWeight is the failure weight of a document that is no feed. It is unlikely to become a feed soon, but
// hosts also send error pages with status 200.
const brokenWeight = 0.5

// unreadable reports to the schedule that a document is not a feed.
func (p *parser) unreadable(ctx context.Context, task subjects.Parse, kind feed.Kind, err error) error {
	p.documents.WithLabelValues(string(kind)).Inc()
	return work.PublishObservation(ctx, p.out, "parse", subjects.Observation{
		Receipt: task.Receipt, Outcome: subjects.Failed, Class: string(kind), Error: err.Error(), Weight: brokenWeight,
	})
}

// newEntries returns the entries that the store does not contain in the same form, without those that were purged.
func (p *parser) newEntries(ctx context.Context, feedID string, entries []feed.Entry) ([]subjects.Entry, error) {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	stored, err := p.items.ItemHashes(ctx, feedID, keys)
	if err != nil {
		return nil, fmt.Errorf("look up entries of feed %s: %w", feedID, err)
	}
	var news []subjects.Entry
	for _, e := range entries {
		if hash := stored[e.Key]; hash != e.Hash && hash != storage.PurgedHash {
			news = append(news, subjects.Entry(e))
		}
	}
	return news, nil
}

// storedFeed returns the store's record of a feed. For a removed feed it returns the zero Feed, and the store
// will reject the items.
func (p *parser) storedFeed(ctx context.Context, id string) (storage.Feed, error) {
	f, err := p.feeds.Feed(ctx, id)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return f, fmt.Errorf("look up feed %s: %w", id, err)
	}
	return f, nil
}

// firstEntryYear is the earliest year of a plausible date.
const firstEntryYear = 1990

// undated returns the publication date of entries without a date in the first document of a feed. They may be of any
// age: pages such as "About" are as old as the site. A year before the fetch, or the date of the oldest entry if that is
// earlier, lists them after the news and after the feed's dated entries.
func undated(dates []time.Time, fetched time.Time) time.Time {
	at := fetched.AddDate(-1, 0, 0)
	for _, d := range dates {
		if d.Year() >= firstEntryYear && d.Before(at) {
			at = d
		}
	}
	return at.UTC().Truncate(time.Microsecond)
}

// fitMessage returns as many entries as one message can carry, from the first on, and whether these are all.
func fitMessage(entries []subjects.Entry) ([]subjects.Entry, bool) {
	size := 0
	for i, e := range entries {
		size += len(e.HTML) + len(e.Summary) + len(e.Title) + 1024
		for _, file := range e.Enclosures {
			size += len(file.URL) + len(file.Type) + 32
		}
		if size > work.MaxEntries && i > 0 {
			return entries[:i], false
		}
	}
	return entries, true
}

func dates(entries []feed.Entry) []time.Time {
	dates := make([]time.Time, 0, len(entries))
	for _, e := range entries {
		dates = append(dates, e.Published)
	}
	return dates
}

// newest returns the newest dates, at most [subjects.MaxDates], newest first, as Unix seconds.
func newest(dates []time.Time) []int64 {
	var seconds []int64
	for _, d := range dates {
		if !d.IsZero() {
			seconds = append(seconds, d.Unix())
		}
	}
	slices.SortFunc(seconds, func(a, b int64) int { return cmp.Compare(b, a) })
	return seconds[:min(len(seconds), subjects.MaxDates)]
}

// hintsOf returns the polling hints of a document.
func hintsOf(task subjects.Parse, d feed.Document) *subjects.Hints {
	h := &subjects.Hints{
		TTL: int(d.TTL / time.Minute), Period: int(d.Period / time.Minute), SkipHours: d.SkipHours, SkipDays: d.SkipDays,
		Entries: len(d.Entries), Hub: cmp.Or(task.Hub, d.Hub), Self: cmp.Or(task.Self, d.Self),
	}
	if d.ZoneKnown {
		zone := d.Zone
		h.Zone = &zone
	}
	return h
}

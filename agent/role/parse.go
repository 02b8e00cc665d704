package role

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/feed"
	"feedmesh/agent/fetch"
	"feedmesh/agent/mesh"
	"feedmesh/agent/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Parse reads documents and hands on the entries that are not known yet.
var Parse = Role{
	Name:  "parse",
	Does:  "reads documents of any format, and hands on the entries that are new or changed",
	Store: true,
	Run: func(ctx context.Context, env *Env) error {
		p := &parser{feeds: env.Store, known: env.Store, out: env.Mesh, maxBody: int64(env.Config.Crawl.MaxBody), metrics: env.Metrics}
		p.shelf = &unpacked
		defer p.shelf.read()()
		p.fullText = &fullText{tags: env.Config.FullText, depths: env.Mesh.Depths}
		return mesh.Serve(ctx, env.Mesh, subjects.Parses, "", p, env.Workers)
	},
}

// maxEntries is the most bytes of entries that travel together. What is added
// to them on their way, and how JSON writes them, fits a message too, unless
// somebody means harm; see publishParts.
const maxEntries = 2 << 20

type parser struct {
	feeds   storage.Feeds
	known   storage.Items
	out     subjects.Publisher
	maxBody int64
	metrics *Metrics

	fullText *fullText
	shelf    *shelf
}

func (p *parser) Receive(ctx context.Context, task subjects.Parse) error {
	parsed, err := p.read(task)
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
	if !task.Pushed() { // which may show but a part of the feed
		document.Rate, document.Hints = policy.Rate(dates(parsed.Entries), task.Fetched), hintsOf(task, parsed)
	}
	entries, err := p.news(ctx, task.FeedID, parsed.Entries)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		p.metrics.documents.WithLabelValues("nothing new").Inc()
		return observe(ctx, p.out, "parse", subjects.Observation{
			Receipt: task.Receipt, Outcome: subjects.Nothing, Rate: document.Rate, Dates: document.Dates, Hints: document.Hints,
			Malformed: document.Malformed,
		})
	}
	p.metrics.documents.WithLabelValues("new entries").Inc()
	entries, all := fitting(entries)
	if !all {
		// The next poll must bring the document again, for the others.
		document.ETag, document.LastModified, document.BodyHash = "", "", ""
	}
	if document, err = p.recall(ctx, document); err != nil {
		return err
	}
	if p.fullText.wanted(ctx, document) {
		return publishParts(ctx, p.out, subjects.Pages, document, entries, func(d subjects.Document, e []subjects.Entry) subjects.Page {
			return subjects.Page{Document: d, Entries: e}
		})
	}
	return publishParts(ctx, p.out, subjects.Prepares, document, entries, func(d subjects.Document, e []subjects.Entry) subjects.Prepare {
		return subjects.Prepare{Document: d, Entries: e}
	})
}

// bodies are where documents are unpacked. None is kept that is larger than maxKept.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxKept = 2 * fetch.MaxPlain

// giveBack keeps a buffer for other documents.
func giveBack(body *bytes.Buffer) {
	if body.Cap() <= maxKept {
		bodies.Put(body)
	}
}

// read returns what a document says, which is nowhere in its bytes any more.
func (p *parser) read(task subjects.Parse) (feed.Document, error) {
	body := p.shelf.take(task.BodyHash)
	if body == nil {
		body = bodies.Get().(*bytes.Buffer)
		if err := fetch.UnpackTo(body, task.Body, p.maxBody); err != nil {
			return feed.Document{}, err
		}
	}
	defer giveBack(body)
	return feed.Parse(body.Bytes(), task.ContentType, task.URL)
}

// brokenWeight is how much a document counts that is no feed: it will hardly be
// one soon, but hosts show error pages as if they were documents.
const brokenWeight = 0.5

// unreadable tells the schedule that there was a document, but no feed in it.
func (p *parser) unreadable(ctx context.Context, task subjects.Parse, kind feed.Kind, err error) error {
	p.metrics.documents.WithLabelValues(string(kind)).Inc()
	return observe(ctx, p.out, "parse", subjects.Observation{
		Receipt: task.Receipt, Outcome: subjects.Failed, Class: string(kind), Error: err.Error(), Weight: brokenWeight,
	})
}

// news returns the entries that the store does not have as they are.
func (p *parser) news(ctx context.Context, feedID string, entries []feed.Entry) ([]subjects.Entry, error) {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	known, err := p.known.Known(ctx, feedID, keys)
	if err != nil {
		return nil, fmt.Errorf("look up entries of feed %s: %w", feedID, err)
	}
	var news []subjects.Entry
	for _, e := range entries {
		if hash, have := known[e.Key]; !have || hash != e.Hash {
			news = append(news, subjects.Entry(e))
		}
	}
	return news, nil
}

// recall adds what the store has of a document's feed. Of one that was removed it
// has nothing, and will take nothing.
func (p *parser) recall(ctx context.Context, d subjects.Document) (subjects.Document, error) {
	f, err := p.feeds.Feed(ctx, d.FeedID)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return d, fmt.Errorf("look up feed %s: %w", d.FeedID, err)
	}
	d.FeedTags, d.FeedCategories, d.SpamThreshold = f.Tags, f.Categories, f.SpamThreshold
	return d, nil
}

// fitting returns as many entries, first ones first, as one message carries,
// and whether those are all.
func fitting(entries []subjects.Entry) ([]subjects.Entry, bool) {
	size := 0
	for i, e := range entries {
		size += len(e.HTML) + len(e.Summary) + len(e.Title) + 1024
		for _, file := range e.Enclosures {
			size += len(file.URL) + len(file.Type) + 32
		}
		if size > maxEntries && i > 0 {
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

// newest returns the newest dates, at most [subjects.MaxDates], newest first, as
// Unix seconds.
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

// hintsOf returns what a document says of when to read it.
func hintsOf(task subjects.Parse, d feed.Document) *subjects.Hints {
	h := &subjects.Hints{
		TTL: int(d.TTL / time.Minute), Period: int(d.Period / time.Minute), SkipHours: d.SkipHours, SkipDays: d.SkipDays,
		Window: len(d.Entries), Hub: cmp.Or(task.Hub, d.Hub), Self: cmp.Or(task.Self, d.Self),
	}
	if d.ZoneKnown {
		h.Zone = &d.Zone
	}
	return h
}

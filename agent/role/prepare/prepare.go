// Package prepare is the role that turns entries into items.
package prepare

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/work"
	"feedmesh/classify/language"
	"feedmesh/classify/near"
	"feedmesh/classify/text"
	"feedmesh/classify/text/player"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Run prepares items until ctx ends.
func Run(ctx context.Context, env *work.Env) error {
	return mesh.Serve(ctx, env.Mesh, subjects.PrepareQueue, "", NewActor(env, env.Mesh), env.Workers)
}

// NewActor returns the actor of the prepare queue, which publishes to out.
func NewActor(env *work.Env, out subjects.Publisher) mesh.Actor[subjects.Prepare] {
	return &preparer{out: out, rules: env.Prepare}
}

const (
	maxExcerpt = 300
	maxAuthor  = 100
	maxTag     = 60
)

// preparer is the actor of the prepare role. It loads the current rules once a task, so that all items of a
// document are made by the same version.
type preparer struct {
	out   subjects.Publisher
	rules func() *text.Rules // nil for the default rules
}

func (p *preparer) Receive(ctx context.Context, task subjects.Prepare) error {
	items := make([]storage.Item, len(task.Entries))
	document := task.Document
	document.Title = text.Title(document.Title, work.MaxTitle)
	document.Language = language.Normalize(document.Language)
	document.Site = ""
	if base := work.BaseOf(document); base != nil {
		document.Site = work.Absolute(base, task.Site)
	}
	rules := text.Default()
	if p.rules != nil {
		rules = p.rules()
	}
	texts := make([]string, len(task.Entries))
	for i, e := range task.Entries {
		items[i], texts[i] = prepare(rules, document, e)
	}
	setLanguages(items, texts, document.Language, task.Entries)
	return work.PublishParts(ctx, p.out, subjects.ClassifyQueue, document, items, func(d subjects.Document, items []storage.Item) subjects.Classify {
		return subjects.Classify{Document: d, Items: items}
	})
}

// setLanguages sets the languages of a document's items; texts are their plain texts. The prior of an entry
// that declares no language is that of its document. If this declares none either, it is the language of most
// items of the document that are long enough.
func setLanguages(items []storage.Item, texts []string, declared string, entries []subjects.Entry) {
	if declared == "" && len(items) > 1 {
		declared = language.Majority(texts)
	}
	for i, e := range entries {
		items[i].Language, _ = language.Detect(texts[i], cmp.Or(language.Normalize(e.Language), declared))
	}
}

// Item returns the item that an entry of a document becomes, without its language.
func Item(rules *text.Rules, d subjects.Document, e subjects.Entry) storage.Item {
	item, _ := prepare(rules, d, e)
	return item
}

// prepare makes an item, without its language, and its plain text from an entry.
func prepare(rules *text.Rules, d subjects.Document, e subjects.Entry) (item storage.Item, plain string) {
	base := work.BaseOf(d)
	item = storage.Item{
		ID:     storage.ItemID(d.FeedID, e.Key),
		FeedID: d.FeedID, Key: e.Key, Hash: e.Hash,
		URL:       rules.CleanLink(work.Link(d, e)),
		Title:     rules.Title(e.Title, d.Title, work.MaxTitle),
		Author:    text.Title(e.Author, maxAuthor),
		FirstSeen: d.Fetched,
	}
	// Images and links in the content are relative to the item's own page.
	if u, err := url.Parse(item.URL); err == nil && item.URL != "" {
		base = u
	}
	cleaned := rules.Clean(e.HTML, base, d.URL)
	item.HTML, item.Images = cleaned.HTML, cleaned.Images
	if image := cmp.Or(rules.ImageURL(e.Image, base), pictureOf(cleaned.Media)); image != "" && len(item.Images) == 0 {
		item.Images = []string{image}
	}
	item.Excerpt = text.Excerpt(cleaned.Text, maxExcerpt)
	if e.Summary != "" {
		item.Excerpt = cmp.Or(text.Excerpt(rules.Clean(e.Summary, base, d.URL).Text, maxExcerpt), item.Excerpt)
	}
	if item.Title == "" { // microblogs have none
		item.Title = text.Excerpt(firstLine(cleaned.Text), 100)
	}
	for _, tag := range e.Tags {
		if tag = text.Title(tag, maxTag); tag != "" {
			item.Tags = append(item.Tags, tag)
		}
	}
	item.Published, item.Assumed = published(e, d)
	item.Updated = plausible(e.Updated, d.Fetched)
	item.Comments, item.Source = work.Absolute(base, e.Comments), text.Title(e.Source, work.MaxTitle)
	item.Enclosures = enclosures(base, e, cleaned.Media)
	item.TextHash = near.TextHash(item.Title, cleaned.Text)
	return item, item.Title + "\n" + cleaned.Text
}

// enclosures returns the entry's files, then the media embedded in its content.
func enclosures(base *url.URL, e subjects.Entry, embedded []text.Media) []storage.Enclosure {
	var all []storage.Enclosure
	add := func(added storage.Enclosure) {
		same := func(e storage.Enclosure) bool { return e.URL == added.URL }
		if added.URL != "" && !slices.ContainsFunc(all, same) {
			all = append(all, added)
		}
	}
	for _, file := range e.Enclosures {
		m, _ := player.Of(file.URL)
		add(storage.Enclosure{URL: work.Absolute(base, cmp.Or(m.Page, file.URL)), Type: file.Type, Length: file.Length, Player: m.Site})
	}
	for _, m := range embedded {
		add(storage.Enclosure{URL: m.URL, Type: m.Type, Player: m.Player, Title: m.Title})
	}
	return all
}

// pictureOf returns the first picture of embedded media, or "".
func pictureOf(media []text.Media) string {
	for _, m := range media {
		if m.Picture != "" {
			return m.Picture
		}
	}
	return ""
}

// published returns the publication date of an entry. If the entry has no plausible date, it returns the
// date of the document's undated entries, or the fetch time, and the reason.
func published(e subjects.Entry, d subjects.Document) (at time.Time, assumed string) {
	date := e.Published
	if date.IsZero() {
		date = e.Updated
	}
	at = plausible(date, d.Fetched)
	switch {
	case !at.IsZero():
		return at, ""
	case date.After(d.Fetched):
		assumed = "future"
	case !date.IsZero(), e.Dated != "":
		assumed = "unreadable"
	default:
		assumed = "missing"
	}
	if d.Undated.IsZero() || d.Undated.After(d.Fetched) {
		return d.Fetched, assumed
	}
	return d.Undated, assumed
}

// plausible returns a date at the store's resolution, or zero if it is implausible: further in the future
// than clocks and time zones explain, or before 1990.
func plausible(date, fetched time.Time) time.Time {
	if date.IsZero() || date.After(fetched.Add(24*time.Hour)) || date.Year() < 1990 {
		return time.Time{}
	}
	return date.UTC().Truncate(time.Microsecond)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

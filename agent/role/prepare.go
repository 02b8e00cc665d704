package role

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/classify/language"
	"feedmesh/classify/near"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Prepare makes items of entries.
var Prepare = Role{
	Name: "prepare",
	Does: "makes items of entries: clean markup, absolute links, sound dates, language",
	Run: func(ctx context.Context, env *Env) error {
		p := &preparer{out: env.Mesh, rules: env.Prepare}
		return mesh.Serve(ctx, env.Mesh, subjects.Prepares, "", p, env.Workers)
	},
}

const (
	maxTitle   = 300 // characters
	maxExcerpt = 300
	maxAuthor  = 100
	maxTag     = 60
)

// preparer asks for its rules once a task, so that the items of a document are
// made by the same ones.
type preparer struct {
	out   subjects.Publisher
	rules func() *text.Rules // nil for the default ones
}

func (p *preparer) Receive(ctx context.Context, task subjects.Prepare) error {
	items := make([]storage.Item, len(task.Entries))
	document := task.Document
	document.Title = text.Title(document.Title, maxTitle)
	document.Language = language.Normal(document.Language)
	document.Site = ""
	if base, err := url.Parse(task.URL); err == nil {
		document.Site = absolute(base, task.Site)
	}
	rules := text.Default()
	if p.rules != nil {
		rules = p.rules()
	}
	for i, e := range task.Entries {
		items[i] = prepare(rules, document, e)
	}
	return publishParts(ctx, p.out, subjects.Classifys, document, items, func(d subjects.Document, items []storage.Item) subjects.Classify {
		return subjects.Classify{Document: d, Items: items}
	})
}

// prepare makes an item of an entry.
func prepare(rules *text.Rules, d subjects.Document, e subjects.Entry) storage.Item {
	base := baseOf(d)
	item := storage.Item{
		ID:     storage.ItemID(d.FeedID, e.Key),
		FeedID: d.FeedID, Key: e.Key, Hash: e.Hash,
		URL:       rules.Link(link(base, e)),
		Title:     rules.Title(e.Title, d.Title, maxTitle),
		Author:    text.Title(e.Author, maxAuthor),
		FirstSeen: d.Fetched,
	}
	// Images and links in the content are relative to the item's own page.
	if u, err := url.Parse(item.URL); err == nil && item.URL != "" {
		base = u
	}
	cleaned := rules.Clean(e.HTML, base, d.URL)
	item.HTML, item.Images = cleaned.HTML, cleaned.Images
	if image := rules.Image(e.Image, base); image != "" && len(item.Images) == 0 {
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
	item.Published, item.Assumed = published(e, d.Fetched)
	item.Updated = sound(e.Updated, d.Fetched)
	item.Comments, item.Source = absolute(base, e.Comments), text.Title(e.Source, maxTitle)
	for _, file := range e.Enclosures {
		if file.URL = absolute(base, file.URL); file.URL != "" {
			item.Enclosures = append(item.Enclosures, storage.Enclosure(file))
		}
	}
	item.Language, _ = language.Detect(item.Title+"\n"+cleaned.Text, cmp.Or(language.Normal(e.Language), d.Language))
	item.TextHash = near.TextHash(item.Title, cleaned.Text)
	return item
}

// baseOf returns what a document's relative links start from: its site, or
// where it came from.
func baseOf(d subjects.Document) *url.URL {
	for _, s := range []string{d.Site, d.URL} {
		if u, err := url.Parse(s); err == nil && u.Host != "" {
			return u
		}
	}
	return nil
}

// link returns the absolute address of an entry, or nothing. A GUID that is an
// address serves where there is no link.
func link(base *url.URL, e subjects.Entry) string {
	if l := absolute(base, e.Link); l != "" {
		return l
	}
	if strings.HasPrefix(e.GUID, "http://") || strings.HasPrefix(e.GUID, "https://") {
		return absolute(base, e.GUID)
	}
	return ""
}

// absolute returns the http or https address that ref means at base, or nothing.
func absolute(base *url.URL, ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	u.User = nil
	if s := u.String(); len(s) <= storage.MaxURL {
		return s
	}
	return ""
}

// published returns when an entry was published, and, if its word can't be
// taken for that, why it is when we first saw it.
func published(e subjects.Entry, fetched time.Time) (at time.Time, assumed string) {
	date := e.Published
	if date.IsZero() {
		date = e.Updated
	}
	switch at = sound(date, fetched); {
	case !at.IsZero():
		return at, ""
	case date.After(fetched):
		return fetched, "future"
	case !date.IsZero(), e.Dated != "":
		return fetched, "unreadable"
	}
	return fetched, "missing"
}

// sound returns a date as the store keeps it, or zero if it can't be true:
// further ahead than clocks and time zones explain, or before the web was.
func sound(date, fetched time.Time) time.Time {
	if date.IsZero() || date.After(fetched.Add(24*time.Hour)) || date.Year() < 1990 {
		return time.Time{}
	}
	return date.UTC().Truncate(time.Microsecond)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

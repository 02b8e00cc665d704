package feed

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mmcdole/gofeed"
)

// document returns what is worth keeping of a parsed feed, within our limits.
func document(f *gofeed.Feed, base *url.URL) Document {
	d := Document{
		Title:    text(f.Title, maxTitle),
		Site:     address(f.Link),
		Language: text(f.Language, maxTag),
		Entries:  make([]Entry, 0, min(len(f.Items), maxItems)),
	}
	for _, item := range f.Items[:min(len(f.Items), maxItems)] {
		if e := entry(item); e.GUID != "" || e.Link != "" || e.Title != "" || e.HTML != "" {
			d.Entries = append(d.Entries, e)
		}
	}
	d.Entries = identify(d.Entries, base)
	return d
}

// entry returns an item as an entry without key.
func entry(item *gofeed.Item) Entry {
	e := Entry{
		GUID:      address(item.GUID),
		Link:      address(item.Link),
		Title:     text(item.Title, maxTitle),
		HTML:      text(item.Content, maxHTML),
		Author:    author(item.Authors),
		Published: moment(item.PublishedParsed),
		Updated:   moment(item.UpdatedParsed),
		Dated:     text(item.Published, maxDated),
		Tags:      tags(item.Categories),
	}
	if e.HTML == "" {
		e.HTML = text(item.Description, maxHTML)
	}
	if item.Image != nil {
		e.Image = address(item.Image.URL)
	}
	e.Hash = contentHash(e)
	return e
}

// text returns s without white space around it, as valid UTF-8 without U+0000
// and cut to limit bytes.
func text(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = strings.Clone(s[:limit]) // lets go of the rest
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > limit {
		return text(s, limit) // U+FFFD is longer than what it replaces
	}
	return strings.ReplaceAll(s, "\x00", "")
}

// address returns s, or "" if it is too long to be kept.
func address(s string) string {
	if len(s) > maxAddress && len(strings.TrimSpace(s)) > maxAddress {
		return ""
	}
	return text(s, maxAddress)
}

// author joins what people are called.
func author(people []*gofeed.Person) string {
	var names []string
	for _, p := range people[:min(len(people), maxTags)] {
		if p == nil {
			continue
		}
		name := text(p.Name, maxAuthor)
		if name == "" {
			name = text(p.Email, maxAuthor)
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return text(strings.Join(names, ", "), maxAuthor)
}

// tags returns the first different tags of a list.
func tags(all []string) []string {
	var kept []string
	for _, tag := range all {
		tag = text(tag, maxTag)
		if tag != "" && !slices.Contains(kept, tag) {
			kept = append(kept, tag)
		}
		if len(kept) == maxTags {
			break
		}
	}
	return kept
}

// moment returns t in UTC, or the zero time for none. Years that JSON and SQL
// cannot write are none.
func moment(t *time.Time) time.Time {
	if t == nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		return time.Time{}
	}
	return t.UTC()
}

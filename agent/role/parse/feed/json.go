package feed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"html"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"feedmesh/agent/role/parse/feed/encoding"
)

// A jsonFeed is a JSON Feed whose fields accept any JSON type; values of a wrong type are omitted.
//
// Source: JSON Feed 1.1.
type jsonFeed struct {
	Version  jsonText             `json:"version"`
	Title    jsonText             `json:"title"`
	Site     jsonText             `json:"home_page_url"`
	Self     jsonText             `json:"feed_url"`
	Language jsonText             `json:"language"`
	Author   jsonList[jsonAuthor] `json:"author"` // of version 1
	Authors  jsonList[jsonAuthor] `json:"authors"`
	Hubs     jsonList[jsonHub]    `json:"hubs"`
	Items    []*jsonItem          `json:"items"` // nil for an element that is not an object
	RSS      *rssJSON             `json:"rss"`   // of RSS in JSON
}

type jsonItem struct {
	ID          jsonText             `json:"id"`
	URL         jsonText             `json:"url"`
	ExternalURL jsonText             `json:"external_url"`
	Title       jsonText             `json:"title"`
	HTML        jsonText             `json:"content_html"`
	Text        jsonText             `json:"content_text"`
	Summary     jsonText             `json:"summary"`
	Image       jsonText             `json:"image"`
	Banner      jsonText             `json:"banner_image"`
	Published   jsonText             `json:"date_published"`
	Modified    jsonText             `json:"date_modified"`
	Author      jsonList[jsonAuthor] `json:"author"`
	Authors     jsonList[jsonAuthor] `json:"authors"`
	Tags        jsonList[jsonText]   `json:"tags"`
	Language    jsonText             `json:"language"`
	Attachments jsonList[jsonFile]   `json:"attachments"`
}

type jsonAuthor struct {
	Name jsonText `json:"name"`
}

// UnmarshalJSON decodes an author, either an object or only a name.
func (a *jsonAuthor) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return a.Name.UnmarshalJSON(b)
	}
	type plain jsonAuthor
	return json.Unmarshal(b, (*plain)(a))
}

type jsonHub struct {
	Type jsonText `json:"type"`
	URL  jsonText `json:"url"`
}

type jsonFile struct {
	URL  jsonText `json:"url"`
	Type jsonText `json:"mime_type"`
	Size jsonText `json:"size_in_bytes"`
}

// A jsonText is a string, or a number or boolean as written; any other value decodes to "".
type jsonText string

// UnmarshalJSON never fails.
func (w *jsonText) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) == 0 || b[0] == '{' || b[0] == '[' || b[0] == 'n':
	case b[0] != '"':
		*w = jsonText(b)
	case bytes.IndexByte(b, '\\') < 0:
		*w = jsonText(b[1 : len(b)-1])
	default:
		*w = jsonText(unquote(b[1 : len(b)-1]))
	}
	return nil
}

// unquote decodes the contents of a valid JSON string into one buffer. encoding/json would scan it twice
// more.
func unquote(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := bytes.IndexByte(b, '\\'); i >= 0; i = bytes.IndexByte(b, '\\') {
		out = append(out, b[:i]...)
		c := b[i+1]
		b = b[i+2:]
		if c != 'u' {
			out = append(out, escapes[c])
			continue
		}
		r := hex4(b)
		b = b[4:]
		if utf16.IsSurrogate(r) {
			low := utf8.RuneError
			if len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
				low = hex4(b[2:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				b = b[6:]
			}
		}
		out = utf8.AppendRune(out, encoding.FromC1(r))
	}
	return append(out, b...)
}

// escapes are the meanings of letters after a backslash.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex4 returns the value of four hexadecimal digits.
func hex4(b []byte) rune {
	return digit(b[0])<<12 | digit(b[1])<<8 | digit(b[2])<<4 | digit(b[3])
}

// A jsonList is an array, or a single value in place of an array. Elements that are null or not a T are
// omitted.
type jsonList[T any] []T

// UnmarshalJSON never fails.
func (l *jsonList[T]) UnmarshalJSON(b []byte) error {
	raw := []json.RawMessage{b}
	if len(b) > 0 && b[0] == '[' {
		raw = nil
		if err := json.Unmarshal(b, &raw); err != nil {
			return nil
		}
		*l = make(jsonList[T], 0, len(raw))
	}
	for _, r := range raw {
		var v T
		if !bytes.Equal(r, []byte("null")) && json.Unmarshal(r, &v) == nil {
			*l = append(*l, v)
		}
	}
	return nil
}

// parseJSON parses a JSON Feed, or RSS in JSON.
func parseJSON(text []byte, outer *url.URL) (draft, error) {
	text, older := newestJSONItems(text)
	repaired, wrong, err := scanJSON(text)
	if err != nil {
		return draft{}, err
	}
	var f jsonFeed
	var mistyped *json.UnmarshalTypeError // occurs for the root or an item only
	if err := json.Unmarshal(repaired, &f); err != nil && !errors.As(err, &mistyped) {
		return draft{}, failed(Broken, "the document is broken: %w", err)
	}
	if f.RSS != nil && f.Items == nil {
		f = f.RSS.feed()
	}
	switch {
	case f.Items == nil && !strings.Contains(string(f.Version), "jsonfeed.org"):
		return draft{}, failed(OtherJSON, "this is JSON, not a feed")
	}
	d := draft{defects: wrong, kept: len(f.Items), older: older}
	site := resolve(outer, string(f.Site))
	d.Title, d.Site, d.Language = clip(string(f.Title), maxTitle), site, clip(string(f.Language), maxTag)
	d.Hints = f.hints()
	base := outer
	if u, err := url.Parse(site); err == nil && u.Host != "" {
		base = u
	}
	authors := f.authorNames(f.Authors, f.Author)
	for _, item := range f.Items {
		if item == nil {
			continue
		}
		e := item.entry(base, d.Language)
		e.Author = cmp.Or(f.authorNames(item.Authors, item.Author), authors) // JSON Feed 1.1, "authors"
		hashed := e
		hashed.Link = clip(cmp.Or(string(item.URL), string(item.ExternalURL)), maxAddress)
		e.Hash = contentHash(hashed)
		if dated := cmp.Or(e.Dated, clip(string(item.Modified), maxDated)); dated != "" {
			d.dates = append(d.dates, dated)
		}
		if !e.empty() {
			d.Entries = append(d.Entries, e)
		}
	}
	if len(d.Entries) == 0 && wrong&cutOff != 0 {
		return draft{}, failed(Broken, "the document ends before its first item")
	}
	return d, nil
}

// entry returns an item as an entry without author, key and hash.
func (item *jsonItem) entry(base *url.URL, language string) Entry {
	e := Entry{
		GUID:     boundedAddress(string(item.ID)),
		Link:     cmp.Or(resolve(base, string(item.URL)), resolve(base, string(item.ExternalURL))),
		Title:    clip(string(item.Title), maxTitle),
		HTML:     clip(cmp.Or(item.html(), plain(string(item.Text))), maxHTML),
		Language: clip(string(item.Language), maxTag),
		Dated:    clip(string(item.Published), maxDated),
		Image:    cmp.Or(resolve(base, string(item.Image)), resolve(base, string(item.Banner))),
	}
	if e.Link == "" && strings.HasPrefix(e.GUID, "http") {
		e.Link = resolve(base, e.GUID)
	}
	summary := clip(plain(string(item.Summary)), maxSummary)
	if e.HTML == "" {
		e.HTML = summary
	} else if summary != e.HTML {
		e.Summary = summary
	}
	language = cmp.Or(e.Language, language)
	e.Published, e.Updated = parseDate(string(item.Published), language), parseDate(string(item.Modified), language)
	for _, f := range item.Attachments {
		addEnclosure(&e, resolve(base, string(f.URL)), string(f.Type), string(f.Size))
	}
	var all []string
	for _, tag := range item.Tags {
		all = append(all, string(tag))
	}
	e.Tags = tags(all)
	return e
}

// html returns the content, unescaped if it is escaped once too often.
func (item *jsonItem) html() string {
	if s := string(item.HTML); isEscapedTwice(s) {
		return html.UnescapeString(s)
	}
	return string(item.HTML)
}

// authorNames joins the names of authors; version 1.1's field precedes version 1's.
func (jsonFeed) authorNames(authors, author jsonList[jsonAuthor]) string {
	if len(authors) == 0 {
		authors = author
	}
	var names []string
	for _, a := range authors[:min(len(authors), maxTags)] {
		names = append(names, rssAuthorName(string(a.Name)))
	}
	return joinNames(names)
}

// hints returns the hints of a JSON Feed, addresses as written.
//
// Source: JSON Feed 1.1, "Subscribing to Real-time Notifications".
func (f jsonFeed) hints() Hints {
	var h Hints
	h.link("self", string(f.Self))
	for _, hub := range f.Hubs {
		if strings.EqualFold(string(hub.Type), "WebSub") || strings.EqualFold(string(hub.Type), "PubSubHubbub") {
			h.link("hub", string(hub.URL))
		}
	}
	return h
}

// plain returns plain text as HTML.
func plain(text string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(text)), "\n", "<br>\n")
}

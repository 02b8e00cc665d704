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
)

// A jsonFeed is a JSON Feed, of which no field can be of a wrong type: what
// is one is left out.
//
// Source: JSON Feed 1.1.
type jsonFeed struct {
	Version  words            `json:"version"`
	Title    words            `json:"title"`
	Site     words            `json:"home_page_url"`
	Self     words            `json:"feed_url"`
	Language words            `json:"language"`
	Author   list[jsonAuthor] `json:"author"` // of version 1
	Authors  list[jsonAuthor] `json:"authors"`
	Hubs     list[jsonHub]    `json:"hubs"`
	Items    []*jsonItem      `json:"items"` // nil where one is none
}

type jsonItem struct {
	ID          words            `json:"id"`
	URL         words            `json:"url"`
	ExternalURL words            `json:"external_url"`
	Title       words            `json:"title"`
	HTML        words            `json:"content_html"`
	Text        words            `json:"content_text"`
	Summary     words            `json:"summary"`
	Image       words            `json:"image"`
	Banner      words            `json:"banner_image"`
	Published   words            `json:"date_published"`
	Modified    words            `json:"date_modified"`
	Author      list[jsonAuthor] `json:"author"`
	Authors     list[jsonAuthor] `json:"authors"`
	Tags        list[words]      `json:"tags"`
	Language    words            `json:"language"`
	Attachments list[jsonFile]   `json:"attachments"`
}

type jsonAuthor struct {
	Name words `json:"name"`
}

// UnmarshalJSON reads an author, who may be but a name.
func (a *jsonAuthor) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return a.Name.UnmarshalJSON(b)
	}
	type plain jsonAuthor
	return json.Unmarshal(b, (*plain)(a))
}

type jsonHub struct {
	Type words `json:"type"`
	URL  words `json:"url"`
}

type jsonFile struct {
	URL  words `json:"url"`
	Type words `json:"mime_type"`
	Size words `json:"size_in_bytes"`
}

// words are a string, a number or a truth as written; anything else is "".
type words string

// UnmarshalJSON never fails.
func (w *words) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) == 0 || b[0] == '{' || b[0] == '[' || b[0] == 'n':
	case b[0] != '"':
		*w = words(b)
	case bytes.IndexByte(b, '\\') < 0:
		*w = words(b[1 : len(b)-1])
	default:
		*w = words(unquote(b[1 : len(b)-1]))
	}
	return nil
}

// unquote returns what is in a string of JSON, which is known to be valid.
// encoding/json would read all of it twice more.
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
		out = utf8.AppendRune(out, r)
	}
	return append(out, b...)
}

// escapes are what letters behind a backslash mean.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex4 returns the number that four hexadecimal digits write.
func hex4(b []byte) rune {
	return digit(b[0])<<12 | digit(b[1])<<8 | digit(b[2])<<4 | digit(b[3])
}

// A list is an array, or the only element of one. What is no T is left out, and
// so is null.
type list[T any] []T

// UnmarshalJSON never fails.
func (l *list[T]) UnmarshalJSON(b []byte) error {
	raw := []json.RawMessage{b}
	if len(b) > 0 && b[0] == '[' {
		raw = nil
		if err := json.Unmarshal(b, &raw); err != nil {
			return nil
		}
		*l = make(list[T], 0, len(raw))
	}
	for _, r := range raw {
		var v T
		if !bytes.Equal(r, []byte("null")) && json.Unmarshal(r, &v) == nil {
			*l = append(*l, v)
		}
	}
	return nil
}

// parseJSON reads JSON Feed.
func parseJSON(text []byte, outer *url.URL) (draft, error) {
	mended, wrong, err := scanJSON(text)
	if err != nil {
		return draft{}, err
	}
	var f jsonFeed
	var mistyped *json.UnmarshalTypeError // only the root or an item can be that
	if err := json.Unmarshal(mended, &f); err != nil && !errors.As(err, &mistyped) {
		return draft{}, failed(Broken, "the document is broken: %w", err)
	}
	switch {
	case f.Items == nil && !strings.Contains(string(f.Version), "jsonfeed.org"):
		return draft{}, failed(OtherJSON, "this is JSON but not a feed")
	}
	d := draft{wrong: wrong}
	site := resolve(outer, string(f.Site))
	d.Title, d.Site, d.Language = clip(string(f.Title), maxTitle), site, clip(string(f.Language), maxTag)
	d.Hints = f.hints()
	base := outer
	if u, err := url.Parse(site); err == nil && u.Host != "" {
		base = u
	}
	authors := f.people(f.Authors, f.Author)
	for _, item := range f.Items {
		if item == nil {
			continue
		}
		e := item.entry(base, d.Language)
		e.Author = cmp.Or(f.people(item.Authors, item.Author), authors) // JSON Feed 1.1, "authors"
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
		GUID:     address(string(item.ID)),
		Link:     cmp.Or(resolve(base, string(item.URL)), resolve(base, string(item.ExternalURL))),
		Title:    clip(string(item.Title), maxTitle),
		HTML:     clip(cmp.Or(string(item.HTML), plain(string(item.Text))), maxHTML),
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
	e.Published, e.Updated = moment(string(item.Published), language), moment(string(item.Modified), language)
	for _, f := range item.Attachments {
		enclose(&e, resolve(base, string(f.URL)), string(f.Type), string(f.Size))
	}
	var all []string
	for _, tag := range item.Tags {
		all = append(all, string(tag))
	}
	e.Tags = tags(all)
	return e
}

// people joins the names of authors, of the newer version's field if it has any.
func (jsonFeed) people(authors, author list[jsonAuthor]) string {
	if len(authors) == 0 {
		authors = author
	}
	var names []string
	for _, a := range authors[:min(len(authors), maxTags)] {
		names = append(names, nameOf(string(a.Name)))
	}
	return join(names)
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

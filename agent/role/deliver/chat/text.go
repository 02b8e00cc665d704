package chat

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/agent/role/deliver/channel"
)

// Bounds in bytes.
const (
	maxText    = 4000 // of a message, if its service allows no less
	maxTitle   = 250
	maxExcerpt = 500
)

// A style is how a service reads texts. The zero value is that of plain text.
type style struct {
	limit  int                 // bytes of a message; 0: maxText
	escape func(string) string // makes markup of a text literal; nil: there is none
	link   func(string) string // does the same to a URL, which stays usable
}

// markdown is the style of services with markdown and mentions.
func markdown(limit int) style {
	return style{limit: limit, escape: escapeMarkdown, link: func(link string) string { return strings.ReplaceAll(link, "@", "%40") }}
}

var (
	markdownEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `~`, `\~`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `|`, `\|`, `#`, `\#`,
		"@", "@\u200b") // a space of no width ends the mention
	slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
)

func escapeMarkdown(s string) string { return markdownEscapes.Replace(s) }
func escapeSlack(s string) string    { return slackEscapes.Replace(s) }

// compose returns the text of a message: title, excerpt and URL of a single item, or the title of the subscription, the lines of an alert, up
// to 5 items in a line each, how many more there are, and the URL of the page about it. Lines that do not fit count as more.
func compose(m channel.Message, s style) string {
	if s.limit == 0 {
		s.limit = maxText
	}
	if s.escape == nil {
		s.escape, s.link = func(text string) string { return text }, func(link string) string { return link }
	}
	if len(m.Items) == 1 && m.More == 0 && m.Alert == "" {
		return single(m.Items[0], s)
	}
	return list(m, s)
}

// single returns the text of one item. The excerpt is left out if it does not fit.
func single(item channel.Item, s style) string {
	title, link := titleOf(item, s), linkOf(item, s)
	text := lines(title, s.escape(excerpt(item.Excerpt)), link)
	if len(text) > s.limit {
		text = lines(title, link)
	}
	return cut(text, s.limit)
}

// list returns the text of an alert or of several items.
func list(m channel.Message, s style) string {
	text := s.escape(cut(clean(m.Heading()), maxTitle))
	more := m.More + len(m.Items) + len(m.Lines)
	link := s.link(cleanURL(m.Link()))
	tail := 30 + len(link) // bytes of the last lines
	for _, line := range m.Lines {
		if line = s.escape(excerpt(line)); len(text)+1+len(line)+tail <= s.limit {
			text = lines(text, line)
			more--
		}
	}
	for _, item := range m.Items[:min(len(m.Items), maxItems)] {
		title, link := titleOf(item, s), linkOf(item, s)
		line := title
		if link != "" && link != title {
			line += " — " + link
		}
		if len(text)+1+len(line)+tail > s.limit {
			break
		}
		text = lines(text, line)
		more--
	}
	if more > 0 {
		text = lines(text, fmt.Sprintf("%d more", more))
	}
	return cut(lines(text, link), s.limit)
}

// lines joins the texts that are not empty.
func lines(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		if text != "" && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	return b.String()
}

// titleOf returns an item's title, its URL if it has none, or its ID.
func titleOf(item channel.Item, s style) string {
	if title := clean(item.Title); title != "" {
		return s.escape(cut(title, maxTitle))
	}
	if link := linkOf(item, s); link != "" {
		return link
	}
	return s.escape(cut(clean(item.ID), maxTitle))
}

// linkOf returns an item's URL, or nothing if it would take more than half of the message.
func linkOf(item channel.Item, s style) string {
	link := s.link(cleanURL(item.URL))
	if len(link) > s.limit/2 {
		return ""
	}
	return link
}

// singleLink returns the URL of the page about the message, or of the only item.
func singleLink(m channel.Message) string {
	if link := m.Link(); link != "" {
		return cleanURL(link)
	}
	if len(m.Items) != 1 {
		return ""
	}
	return cleanURL(m.Items[0].URL)
}

func excerpt(text string) string {
	text = clean(text)
	if len(text) <= maxExcerpt {
		return text
	}
	return cut(text, maxExcerpt-len("…")) + "…"
}

// clean returns a text in one line, without control characters and those that change the direction of what follows.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return strings.Join(strings.Fields(text), " ")
}

// cleanURL returns a URL of the web in ASCII, or nothing if it is not one.
func cleanURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	u.User = nil
	var b strings.Builder
	for _, c := range []byte(u.String()) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("<>\"`|\\", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// cut returns the beginning of a text, of at most so many bytes and whole runes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

package mail

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"strings"
	texttemplate "text/template"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"feedmesh/agent/role/deliver/channel"
	"feedmesh/classify/text"
)

// Bounds of what a mail shows, in characters: so a mail of 100 items has less than 1 MB.
const (
	maxSubject = 150
	maxTitle   = 200
	maxExcerpt = 300
	maxSource  = 100
)

//go:embed message.html
var htmlSource string

//go:embed message.txt
var textSource string

var (
	htmlTemplate = template.Must(template.New("html").Parse(htmlSource))
	textTemplate = texttemplate.Must(texttemplate.New("text").Parse(textSource))
)

// A page is the content of a mail. Its texts are single lines.
type page struct {
	Title       string
	Lines       []string
	Link        string // of HTTP; or empty
	Stories     []story
	More        int
	BaseURL     string
	Unsubscribe string
}

// A story is an item with the further items of the same story.
type story struct {
	entry
	Others []entry
}

// An entry is an item as it is shown. Empty fields are left out.
type entry struct {
	Title    string
	URL      string // of HTTP
	Source   string // feed and time
	Excerpt  string
	Language string // BCP 47
}

// compose returns the mail of a message to an address, with texts in two forms and without pictures.
func (c *Channel) compose(address, unsubscribe string, m channel.Message) (*gomail.Msg, error) {
	p := page{Title: oneLine(m.Heading(), maxTitle), Link: webURL(m.Link()), Stories: storiesOf(m.Items), More: m.More, BaseURL: webURL(c.options.BaseURL)}
	for _, line := range m.Lines {
		p.Lines = append(p.Lines, oneLine(line, maxExcerpt))
	}
	if p.Unsubscribe = webURL(unsubscribe); p.Unsubscribe != unsubscribe {
		return nil, fmt.Errorf("the link to unsubscribe is not a URL in ASCII of at most %d bytes", maxURL)
	}
	var plain, html bytes.Buffer
	if err := textTemplate.Execute(&plain, p); err != nil {
		return nil, fmt.Errorf("write text of mail: %w", err)
	}
	if err := htmlTemplate.Execute(&html, p); err != nil {
		return nil, fmt.Errorf("write HTML of mail: %w", err)
	}
	message := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithEncoding(encodingOf(plain.Bytes())))
	message.FromMailAddress(c.from)
	if err := message.To(address); err != nil {
		return nil, err
	}
	message.Subject(subjectOf(m))
	message.SetMessageIDWithValue(idOf(m.ID) + "@" + c.domain)
	message.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834
	message.SetGenHeader("X-Auto-Response-Suppress", "All")
	message.SetGenHeader("Precedence", "list")
	message.SetGenHeader("List-Id", "<"+listOf(address, m.Title)+"."+c.domain+">")
	if p.Unsubscribe != "" {
		message.SetGenHeader("List-Unsubscribe", "<"+p.Unsubscribe+">")
		if strings.HasPrefix(p.Unsubscribe, "https:") {
			message.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
		}
	}
	message.SetBodyString(gomail.TypeTextPlain, withCRLF(plain.String()))
	message.AddAlternativeString(gomail.TypeTextHTML, withCRLF(html.String()))
	return message, nil
}

// subjectOf returns the title of an alert or of the only item, or the number of items. It is no encoded word already: a title that looks like
// one would be decoded.
func subjectOf(m channel.Message) string {
	subject := fmt.Sprintf("%s: %d items", m.Title, len(m.Items)+m.More)
	if m.Alert != "" {
		subject = m.Heading()
	} else if len(m.Items) == 1 && m.More == 0 {
		subject = titleOf(m.Items[0])
	}
	return strings.ReplaceAll(oneLine(subject, maxSubject), "=?", "= ?")
}

// storiesOf groups items by their stories, in the order of their first items.
func storiesOf(items []channel.Item) []story {
	var stories []story
	index := map[string]int{} // by ID of the story
	for _, item := range items {
		at, isKnown := index[item.StoryID]
		if item.StoryID != "" && isKnown {
			stories[at].Others = append(stories[at].Others, entryOf(item))
			continue
		}
		index[item.StoryID] = len(stories)
		stories = append(stories, story{entry: entryOf(item)})
	}
	return stories
}

func entryOf(item channel.Item) entry {
	source := oneLine(item.FeedTitle, maxSource)
	if !item.Published.IsZero() {
		source = strings.TrimPrefix(source+" · "+item.Published.UTC().Format("2006-01-02 15:04 UTC"), " · ")
	}
	return entry{
		Title: titleOf(item), URL: webURL(item.URL), Source: source,
		Excerpt: oneLine(item.Excerpt, maxExcerpt), Language: item.Language,
	}
}

// titleOf returns the title of an item, or else another text of it.
func titleOf(item channel.Item) string {
	for _, title := range []string{item.Title, item.Excerpt, item.FeedTitle} {
		if title = oneLine(title, maxTitle); title != "" {
			return title
		}
	}
	return "An item without a title"
}

// oneLine returns the beginning of a text on one line, without control characters.
func oneLine(s string, max int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return text.Excerpt(s, max)
}

// idOf returns an ID as the local part of a Message-ID, by which receivers recognise a retry. Those of [channel.MessageID] stay as they are.
func idOf(id string) string {
	isAtom := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	if id == "" || len(id) > 64 || strings.ContainsFunc(id, func(r rune) bool { return !isAtom(r) }) {
		return "msg_" + hashOf(id)
	}
	return id
}

// listOf returns the ID of the list (RFC 2919) of a subscription: the same for all its messages while it has its title.
func listOf(address, title string) string { return hashOf(address + "\x00" + title) }

// hashOf returns 16 hexadecimal digits.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// encodingOf returns the shorter encoding of a text.
func encodingOf(s []byte) gomail.Encoding {
	encoded := 0
	for _, b := range s {
		if b >= 0x80 {
			encoded++
		}
	}
	if encoded > len(s)/6 { // quoted-printable has 3 bytes for each of them, base64 4 bytes for any 3
		return gomail.EncodingB64
	}
	return gomail.EncodingQP
}

// withCRLF returns a text with the line ends of mail, which base64 would hide from the server.
func withCRLF(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

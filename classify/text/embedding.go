package text

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"feedmesh/classify/text/player"
)

// A Media is embedded video or audio.
type Media struct {
	URL     string // absolute http(s) URL of the file, or of its page on the player's website
	Type    string // MIME type, or "video" or "audio"
	Player  string // name of the player's website, as in "Vimeo"; "" for a file
	Title   string // "" if unknown
	Picture string // absolute http(s) URL; "" if unknown
}

// maxMediaTitle bounds the title of embedded media in a link, in characters.
const maxMediaTitle = 100

// An embedding is an element that embeds a document or a file, which is replaced by a link.
type embedding struct {
	name    string // of the element; "" for none
	address string // absolute http(s) URL; "" if unknown
	kind    player.Kind
	mime    string // MIME type as stated
	title   string
	picture string
	hidden  bool
}

// isEmbedding reports whether elements of that name embed documents or files.
func isEmbedding(name string) bool {
	switch name {
	case "iframe", "video", "audio", "object", "embed":
		return true
	}
	return false
}

// beginEmbedding reads z's current tag, which starts an element that embeds.
func (c *cleaner) beginEmbedding(z *html.Tokenizer, name string) {
	c.embedding = embedding{name: name}
	if name == "video" || name == "audio" {
		c.embedding.kind = player.Kind(name)
	}
	c.readEmbedding(z, name)
}

// readEmbedding completes the current embedding from z's current tag: its own, or that of an element in it, as
// a source of a video and a parameter of an object.
func (c *cleaner) readEmbedding(z *html.Tokenizer, name string) {
	if !isEmbedding(name) && name != "source" && name != "param" {
		return
	}
	values := make(map[string]string)
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, known := values[string(key)]; !known {
			values[string(key)] = sanitizeUTF8(string(value))
		}
	}
	e := &c.embedding
	for _, address := range c.embeddedAddresses(name, values) {
		if e.address == "" {
			e.address = cleanedLink(c.rules, address, c.base, false)
			e.mime = cmp.Or(e.mime, strings.ToLower(values["type"]))
		}
	}
	e.title = cmp.Or(e.title, mediaTitle(cmp.Or(values["title"], values["aria-label"])))
	e.picture = cmp.Or(e.picture, c.rules.ImageURL(values["poster"], c.base))
	e.hidden = e.hidden || isTiny(values["width"], values["height"], values["style"])
}

// embeddedAddresses returns the attributes that may be the address of what a tag embeds, best first.
func (c *cleaner) embeddedAddresses(name string, values map[string]string) []string {
	if name == "param" {
		switch strings.ToLower(values["name"]) {
		case "movie", "src", "url", "filename":
			return []string{values["value"]}
		}
		return nil
	}
	addresses := []string{values["src"], values["data"]}
	for _, lazy := range c.rules.document.Images.Lazy {
		addresses = append(addresses, values[lazy])
	}
	return addresses
}

// mediaTitle returns the title of a medium without words that players set for all.
func mediaTitle(s string) string {
	return Excerpt(strings.TrimSpace(playerWords.ReplaceAllString(s, "")), maxMediaTitle)
}

var playerWords = regexp.MustCompile(`(?i)^((youtube|vimeo|dailymotion) )?(video|audio)( player)?$|^spotify embed: |^(embedded|video) (content|player)$|^iframe$`)

// endEmbedding writes the link that replaces the current embedding, on a line of its own, unless it is
// invisible, a repetition, a tracking pixel or beyond maxEmbeds.
func (c *cleaner) endEmbedding() {
	e := c.embedding
	c.embedding = embedding{}
	if c.textOnly || e.address == "" || e.hidden || c.rules.isPixel(e.address) || !c.rules.kinds["a"].kept() || !c.rules.keeps("a", "href") {
		return
	}
	m, known := c.medium(e)
	u, err := url.Parse(m.URL)
	if m.URL == "" || err != nil || len(c.embedded) == maxEmbeds || slices.Contains(c.embedded, m.URL) {
		return
	}
	c.embedded = append(c.embedded, m.URL)
	label := "Embedded content"
	if known {
		label = labels[m.kind()]
		if len(c.media) < maxMedia {
			c.media = append(c.media, m)
		}
	}
	c.closeImplied(implied("a", inline))
	if !c.text.atLineStart() {
		if c.rules.kinds["br"] == void && c.writeTag("br", nil) {
			c.text.separate(void, "br")
		} else {
			c.space()
		}
	}
	c.attr = append(c.attr[:0], attribute{"href", m.URL}, fixedAttributes["a"])
	if c.beginWith("a", inline) {
		c.writeText(label + ": " + cmp.Or(m.Title, m.Player, strings.TrimPrefix(u.Host, "www.")))
		c.end("a")
		c.writeText(" ")
	}
}

// labels begin the texts of links to media.
var labels = map[player.Kind]string{player.Video: "Video", player.Audio: "Audio"}

func (m Media) kind() player.Kind {
	major, _, _ := strings.Cut(m.Type, "/")
	return player.Kind(major)
}

// medium returns the media of an embedding, and whether it is known to be video or audio. Otherwise it has a
// URL and a title only.
func (c *cleaner) medium(e embedding) (m Media, known bool) {
	m = Media{URL: e.address, Type: e.mime, Title: e.title, Picture: e.picture}
	if p, ok := player.Of(e.address); ok {
		m.URL, m.Player, m.Picture = cleanedLink(c.rules, p.Page, nil, false), p.Site, cmp.Or(m.Picture, p.Picture)
		if p.Site != "" || labels[m.kind()] == "" {
			m.Type = cmp.Or(p.Type, string(p.Kind))
		}
	}
	if labels[m.kind()] == "" {
		m.Type = string(e.kind)
	}
	return m, m.Type != ""
}

package text

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	maxDataImage = 8 << 10 // bytes
	maxPattern   = 2000    // instructions that a pattern may compile to
)

// schemes lists what links may ever begin with; images begin with http(s).
var schemes = []string{"http", "https", "mailto", "tel", "xmpp", "irc", "ircs", "magnet", "ftp", "gemini"}

// compile makes rules of a document. They are of use only if there are no faults.
func (c *compiler) compile(d document) *Rules {
	r := &Rules{
		document:   d,
		kinds:      c.kinds(d.Elements),
		attributes: c.attributes(d.Attributes),
		embeds:     c.set("embeds", d.Embeds, isHost, "is no host, as in www.example.org"),
		extensions: c.set("images.extensions", d.Images.Extensions, isName, "is no extension, as in png"),
		lazy:       c.set("images.lazy", d.Images.Lazy, isDataAttribute, "is no attribute that begins with data-"),
		pixels:     c.pixels(d.Images.Pixels),
		schemes:    c.schemes(d.Links.Schemes),
		tracking:   c.tracking(d.Links.Tracking),
		tails:      c.tails(d.Tails),
		acronyms:   make(map[string]bool),
		feeds:      c.feeds(d.Feeds),
	}
	c.rewrites(d.Links.Rewrite)
	if d.Images.Data < 0 || d.Images.Data > maxDataImage {
		c.fault("images.data", "%d is not between 0 and %d bytes", d.Images.Data, maxDataImage)
	}
	for _, word := range d.Titles.Acronyms {
		r.acronyms[strings.ToUpper(word)] = true
	}
	if len(r.embeds) > 0 {
		r.kinds["iframe"] = embed
	}
	r.policy = newPolicy(r)
	return r
}

// kinds returns what becomes of each element if only those listed are kept.
func (c *compiler) kinds(list []string) map[string]kind {
	m := maps.Clone(elements)
	for name, k := range elements {
		switch {
		case slices.Contains(list, name):
		case k == block, k == cell, name == "br", name == "hr":
			m[name] = apart
		case k == inline, k == void:
			delete(m, name)
		}
	}
	for i, name := range list {
		if k := elements[name]; k == 0 || k == dropped || k == code {
			c.refuse(fmt.Sprintf("elements[%d]", i), name, "one of the elements that are safe to show")
		}
	}
	return m
}

// attributes returns the attributes that are kept, by element, with what their
// values must match.
func (c *compiler) attributes(lists map[string][]string) map[string]map[string]*regexp.Regexp {
	m := map[string]map[string]*regexp.Regexp{"iframe": attributes["iframe"]}
	for _, element := range slices.Sorted(maps.Keys(lists)) {
		safe, ok := attributes[element]
		if !ok || element == "iframe" {
			c.refuse("attributes."+element, element, "one of "+strings.Join(slices.Sorted(maps.Keys(attributes)), ", "))
			continue
		}
		m[element] = make(map[string]*regexp.Regexp)
		for i, name := range lists[element] {
			must, ok := safe[name]
			if !ok {
				c.refuse(fmt.Sprintf("attributes.%s[%d]", element, i), name, "one of "+strings.Join(slices.Sorted(maps.Keys(safe)), ", "))
			}
			m[element][name] = must
		}
	}
	return m
}

// refuse notes that somebody asked for what no rule set may have.
func (c *compiler) refuse(path, name, want string) {
	why := forbidden[strings.ToLower(name)]
	if strings.HasPrefix(strings.ToLower(name), "on") && len(name) > 2 {
		why = "it runs code"
	}
	if why != "" {
		c.fault(path, "%s is never allowed: %s", name, why)
		return
	}
	c.fault(path, "%.60q is not %s", name, want)
}

// set returns a list as a set, each entry of which must be of a form.
func (c *compiler) set(path string, list []string, is func(string) bool, fault string) map[string]bool {
	m := make(map[string]bool, len(list))
	for i, entry := range list {
		if !is(entry) {
			c.fault(fmt.Sprintf("%s[%d]", path, i), "%q %s", entry, fault)
		}
		m[entry] = true
	}
	return m
}

var (
	isHost          = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?(:[0-9]{1,5})?$`).MatchString
	isName          = regexp.MustCompile(`^[a-z0-9]{1,10}$`).MatchString
	isDataAttribute = regexp.MustCompile(`^data-[a-z0-9-]{1,60}$`).MatchString
)

func (c *compiler) schemes(list []string) map[string]bool {
	m := make(map[string]bool)
	for i, scheme := range list {
		path := fmt.Sprintf("links.schemes[%d]", i)
		switch {
		case slices.Contains(schemes, scheme):
			m[scheme] = true
		case slices.Contains([]string{"javascript", "vbscript", "data", "blob", "file"}, strings.ToLower(scheme)):
			c.fault(path, "%s is never allowed: it runs code or reads files", scheme)
		default:
			c.fault(path, "%q is not one of %s", scheme, strings.Join(schemes, ", "))
		}
	}
	return m
}

// rewrites checks that each rewrite leads from place to place, and none of
// them to where another begins: doing it twice must do no more than once.
func (c *compiler) rewrites(list []rewrite) {
	for i, w := range list {
		path := fmt.Sprintf("links.rewrite[%d]", i)
		c.place(path+".from", w.From)
		c.place(path+".to", w.To)
		for j, other := range list {
			if other.From != "" && strings.HasPrefix(w.To, other.From) {
				c.fault(path+".to", "%q is where links.rewrite[%d] begins", w.To, j)
			}
		}
	}
}

// place checks that an address may begin others, and be begun with instead.
func (c *compiler) place(path, address string) {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil, u.RawQuery != "", u.String() != address, !strings.HasSuffix(address, "/"):
		c.fault(path, "%q is no address like https://example.org/", address)
	}
}

// tails returns one pattern of all patterns in the list, nil if there are none.
func (c *compiler) tails(list []string) *regexp.Regexp {
	var sound []string
	for i, pattern := range list {
		path := fmt.Sprintf("tails[%d]", i)
		parsed, err := syntax.Parse(pattern, syntax.Perl|syntax.FoldCase)
		if err != nil {
			c.fault(path, "%q: %v", pattern, err)
			continue
		}
		program, err := syntax.Compile(parsed.Simplify())
		switch {
		case err != nil:
			c.fault(path, "%q: %v", pattern, err)
		case len(program.Inst) > maxPattern:
			c.fault(path, "%q: its repetitions are too many", pattern)
		case regexp.MustCompile("(?i)^(?:" + pattern + ")$").MatchString(""):
			c.fault(path, "%q: matches an empty text", pattern)
		default:
			sound = append(sound, pattern)
		}
	}
	if len(sound) == 0 {
		return nil
	}
	return regexp.MustCompile("(?i)^(?:" + strings.Join(sound, "|") + ")$")
}

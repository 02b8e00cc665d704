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
	maxDataImage = 8 << 10 // instructions of a compiled pattern
	maxPattern   = 2000    // instructions that a pattern may compile to
)

// schemes lists all schemes that links may have; images use http(s).
var schemes = []string{"http", "https", "mailto", "tel", "xmpp", "irc", "ircs", "magnet", "ftp", "gemini"}

// compile builds rules from a document. They are valid only if no problem was reported.
func (c *documentParser) compile(d document) *Rules {
	r := &Rules{
		document:   d,
		kinds:      c.kinds(d.Elements),
		attributes: c.attributes(d.Attributes),
		embeds:     c.set("embeds", d.Embeds, isHost, "is not a host such as www.example.org"),
		extensions: c.set("images.extensions", d.Images.Extensions, isName, "is not an extension such as png"),
		lazy:       c.set("images.lazy", d.Images.Lazy, isDataAttribute, "is not an attribute that begins with data-"),
		pixels:     c.pixels(d.Images.Pixels),
		schemes:    c.schemes(d.Links.Schemes),
		tracking:   compileTracking(c, d.Links.Tracking),
		tails:      c.tails(d.Tails),
		acronyms:   make(map[string]bool),
		feeds:      c.feeds(d.Feeds),
	}
	c.rewrites(d.Links.Rewrite)
	if d.Images.Data < 0 || d.Images.Data > maxDataImage {
		c.report("images.data", "%d is not between 0 and %d bytes", d.Images.Data, maxDataImage)
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

// kinds returns the treatment of each element if only the listed elements are kept.
func (c *documentParser) kinds(list []string) map[string]kind {
	m := maps.Clone(elements)
	for name, k := range elements {
		switch {
		case slices.Contains(list, name):
		case k == block, k == tableCell, name == "br", name == "hr":
			m[name] = separator
		case k == inline, k == void:
			delete(m, name)
		}
	}
	for i, name := range list {
		if k := elements[name]; k == 0 || k == dropped || k == droppedRaw {
			c.reportForbidden(fmt.Sprintf("elements[%d]", i), name, "one of the elements that are safe to show")
		}
	}
	return m
}

// attributes returns the kept attributes by element, with the pattern of their values.
func (c *documentParser) attributes(lists map[string][]string) map[string]map[string]*regexp.Regexp {
	m := map[string]map[string]*regexp.Regexp{"iframe": attributes["iframe"]}
	for _, element := range slices.Sorted(maps.Keys(lists)) {
		safe, ok := attributes[element]
		if !ok || element == "iframe" {
			c.reportForbidden("attributes."+element, element, "one of "+strings.Join(slices.Sorted(maps.Keys(attributes)), ", "))
			continue
		}
		m[element] = make(map[string]*regexp.Regexp)
		for i, name := range lists[element] {
			must, ok := safe[name]
			if !ok {
				c.reportForbidden(fmt.Sprintf("attributes.%s[%d]", element, i), name, "one of "+strings.Join(slices.Sorted(maps.Keys(safe)), ", "))
			}
			m[element][name] = must
		}
	}
	return m
}

// reportForbidden reports an element or attribute that no rule set may keep.
func (c *documentParser) reportForbidden(path, name, want string) {
	why := forbiddenReasons[strings.ToLower(name)]
	if strings.HasPrefix(strings.ToLower(name), "on") && len(name) > 2 {
		why = "it runs code"
	}
	if why != "" {
		c.report(path, "%s is never allowed: %s", name, why)
		return
	}
	c.report(path, "%.60q is not %s", name, want)
}

// set returns a list as a set and checks the form of each entry.
func (c *documentParser) set(path string, list []string, is func(string) bool, fault string) map[string]bool {
	m := make(map[string]bool, len(list))
	for i, entry := range list {
		if !is(entry) {
			c.report(fmt.Sprintf("%s[%d]", path, i), "%q %s", entry, fault)
		}
		m[entry] = true
	}
	return m
}

func (c *documentParser) schemes(list []string) map[string]bool {
	m := make(map[string]bool)
	for i, scheme := range list {
		path := fmt.Sprintf("links.schemes[%d]", i)
		switch {
		case slices.Contains(schemes, scheme):
			m[scheme] = true
		case slices.Contains([]string{"javascript", "vbscript", "data", "blob", "file"}, strings.ToLower(scheme)):
			c.report(path, "%s is never allowed: it runs code or reads files", scheme)
		default:
			c.report(path, "%q is not one of %s", scheme, strings.Join(schemes, ", "))
		}
	}
	return m
}

// rewrites checks that rewrites map URL prefixes to URL prefixes, and that no result matches another rewrite,
// so that rewriting is idempotent.
func (c *documentParser) rewrites(list []rewrite) {
	for i, w := range list {
		path := fmt.Sprintf("links.rewrite[%d]", i)
		c.checkBaseURL(path+".from", w.From)
		c.checkBaseURL(path+".to", w.To)
		for j, other := range list {
			if other.From != "" && strings.HasPrefix(w.To, other.From) {
				c.report(path+".to", "%q matches links.rewrite[%d] again", w.To, j)
			}
		}
	}
}

// checkBaseURL checks that a URL is a valid prefix.
func (c *documentParser) checkBaseURL(path, address string) {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil, u.RawQuery != "", u.String() != address, !strings.HasSuffix(address, "/"):
		c.report(path, "%q is not a URL such as https://example.org/", address)
	}
}

// tails combines the patterns into one, nil if there are none.
func (c *documentParser) tails(list []string) *regexp.Regexp {
	var sound []string
	for i, pattern := range list {
		path := fmt.Sprintf("tails[%d]", i)
		parsed, err := syntax.Parse(pattern, syntax.Perl|syntax.FoldCase)
		if err != nil {
			c.report(path, "%q: %v", pattern, err)
			continue
		}
		program, err := syntax.Compile(parsed.Simplify())
		switch {
		case err != nil:
			c.report(path, "%q: %v", pattern, err)
		case len(program.Inst) > maxPattern:
			c.report(path, "%q: too many repetitions", pattern)
		case regexp.MustCompile("(?i)^(?:" + pattern + ")$").MatchString(""):
			c.report(path, "%q: matches an empty text", pattern)
		default:
			sound = append(sound, pattern)
		}
	}
	if len(sound) == 0 {
		return nil
	}
	return regexp.MustCompile("(?i)^(?:" + strings.Join(sound, "|") + ")$")
}

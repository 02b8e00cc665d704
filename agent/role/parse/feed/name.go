package feed

import (
	"bytes"
	"strings"
)

// vocabularies maps the namespaces of feeds to the prefixes used in this package. "" is the core: elements of
// RSS, and of Atom in an Atom feed. Addresses lack scheme, "www." and a trailing slash or fragment, in which
// publishers differ.
var vocabularies = map[string]string{
	"":                                    "",
	"purl.org/rss/1.0":                    "",
	"my.netscape.com/rdf/simple/0.9":      "",
	"channel.netscape.com/rdf/simple/0.9": "",
	"my.netscape.com/publish/formats/rss-0.91": "",
	"backend.userland.com/rss":                 "",
	"backend.userland.com/rss2":                "",
	"backend.userland.com/rss091":              "",
	"backend.userland.com/rss092":              "",
	"blogs.law.harvard.edu/tech/rss":           "",
	"cyber.law.harvard.edu/rss":                "",
	"rssboard.org/rss-specification":           "",

	"w3.org/2005/atom":                     "atom",
	"purl.org/atom/ns":                     "atom",
	"w3.org/1999/xhtml":                    "html",
	"purl.org/rss/1.0/modules/content":     "content",
	"purl.org/dc/elements/1.1":             "dc",
	"purl.org/dc/elements/1.0":             "dc",
	"purl.org/dc/terms":                    "dcterms",
	"search.yahoo.com/mrss":                "media",
	"itunes.com/dtds/podcast-1.0.dtd":      "itunes",
	"purl.org/rss/1.0/modules/syndication": "sy",
	"rssnamespace.org/feedburner/ext/1.0":  "feedburner",
	"purl.org/rss/1.0/modules/slash":       "slash",
	"purl.org/syndication/thread/1.0":      "thr",
	"w3.org/1999/02/22-rdf-syntax-ns":      "rdf",
}

// prefixes are those that publishers use without a declaration or with an unregistered namespace.
var prefixes = map[string]string{
	"rss": "", "rss1": "", "atom": "atom", "atom03": "atom", "atom10": "atom", "a10": "atom", "html": "html", "xhtml": "html",
	"content": "content", "dc": "dc", "dcterms": "dcterms", "media": "media", "itunes": "itunes", "sy": "sy",
	"feedburner": "feedburner", "slash": "slash", "thr": "thr", "rdf": "rdf",
}

// vocabulary returns the prefix of a namespace, and whether the namespace is registered.
func vocabulary(namespace string) (string, bool) {
	s := strings.ToLower(strings.TrimSpace(namespace))
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	s = strings.TrimPrefix(s, "www.")
	if before, _, ok := strings.Cut(s, "#"); ok {
		s = before // the namespace of Atom 0.3 was draft-ietf-atompub-format-...#atom too
	}
	v, ok := vocabularies[strings.TrimRight(s, "/")]
	return v, ok
}

// A binding maps a prefix to a vocabulary within an element.
type binding struct {
	prefix     string
	vocabulary string
	known      bool
}

// bind records the namespaces that a tag declares. The default namespace of a root or a channel is always the
// core: some publishers declare an unrelated namespace there.
func (s *scanner) bind(attrs []attribute, holder bool) {
	for _, a := range attrs {
		prefix, ok := bytes.CutPrefix(a.name, []byte("xmlns"))
		if !ok || len(prefix) > 0 && prefix[0] != ':' {
			continue
		}
		b := binding{prefix: strings.ToLower(strings.TrimPrefix(string(prefix), ":"))}
		b.vocabulary, b.known = vocabulary(unescape(a.value))
		if holder && b.prefix == "" {
			b.vocabulary, b.known = "", true
		}
		s.bindings = append(s.bindings, b)
	}
}

// canonicalPrefix returns this package's prefix for a prefix as written, or the latter if it has none.
func (s *scanner) canonicalPrefix(written string) string {
	for i := len(s.bindings) - 1; i >= 0; i-- {
		if b := &s.bindings[i]; b.prefix == written {
			if b.known {
				return s.core(b.vocabulary)
			}
			break
		}
	}
	if known, ok := prefixes[written]; ok {
		return s.core(known)
	}
	return written
}

// core returns "" for the vocabulary of the document's own format.
func (s *scanner) core(vocabulary string) string {
	if s.format == atom && vocabulary == "atom" {
		return ""
	}
	return vocabulary
}

// A nameKey is a name as written with its resolved prefix, the key of the cache of names.
type nameKey struct{ prefix, name string }

// name returns the normalized name of an element: in lower case, with the prefix of its vocabulary unless
// that is the core. Names are cached for the document.
func (s *scanner) name(raw []byte) string {
	written := ""
	if i := bytes.LastIndexByte(raw, ':'); i >= 0 {
		written = strings.ToLower(string(raw[:i]))
	}
	prefix := s.canonicalPrefix(written)
	if name, ok := s.names[nameKey{prefix, string(raw)}]; ok {
		return name
	}
	name := strings.ToLower(string(local(raw)))
	if prefix != "" {
		name = prefix + ":" + name
	}
	s.names[nameKey{prefix, string(raw)}] = name
	return name
}

// tagName returns the name that b starts with, or nothing if it starts with none. No feed format has names
// outside ASCII.
func tagName(b []byte) []byte {
	for i, c := range b {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c != ':' && c != '-' && c != '.' && (c < '0' || c > '9')) {
			return b[:i]
		}
	}
	return b
}

// local returns a name without its prefix.
func local(name []byte) []byte {
	return name[bytes.LastIndexByte(name, ':')+1:]
}

package spam

import (
	"html"
	"slices"
	"strings"
	"unicode"

	"feedmesh/classify/stem"
)

const (
	maxLinks   = 64   // links examined per document
	maxAddress = 2000 // bytes examined per URL
)

// A link is a URL or mail address in a document, in lower case.
type link struct {
	address, host string
	shown         int  // bytes of the link's text; 0 for a URL within the text
	paid          bool // marked rel="sponsored"
	own           bool // the document's own URL
}

// linksOf returns at most 64 links of a document: its own URL, then those of its markup, then those of its
// text. Mail addresses are included, without host.
func linksOf(d *Document, text []stem.Word) []link {
	var list []link
	add := func(l link) {
		l.address = strings.ToLower(strings.TrimRight(l.address[:min(len(l.address), maxAddress)], ".,;!?)]"))
		if l.host == "" {
			l.host = hostOf(l.address)
		}
		if len(list) < maxLinks && l.address != "" {
			list = append(list, l)
		}
	}
	if d.URL != "" {
		add(link{address: d.URL, own: true})
	} else if d.Host != "" {
		add(link{address: d.Host, host: strings.ToLower(d.Host), own: true})
	}
	markupLinks(d.HTML, add)
	inMarkup := len(list)
	for _, field := range []string{d.Title, d.Text, d.Author} {
		for _, a := range addressesIn(field) {
			if !slices.ContainsFunc(list[:inMarkup], func(l link) bool { return strings.EqualFold(l.address, a) }) {
				add(link{address: a})
			}
		}
	}
	for _, w := range text {
		if isDomain(w.Stem) {
			add(link{address: w.Stem, host: w.Stem})
		}
	}
	return list
}

// addressesIn returns the URLs and mail addresses in a text.
func addressesIn(text string) (list []string) {
	for _, mark := range [...]string{"://", "www.", "WWW.", "@"} {
		for from := 0; len(list) < maxLinks; {
			i := strings.Index(text[from:], mark)
			if i < 0 {
				break
			}
			start := strings.LastIndexFunc(text[:from+i], isNoAddress) + 1
			for start < from+i && text[start]&0xC0 == 0x80 { // skip the bytes of the delimiter
				start++
			}
			if scheme := strings.LastIndex(text[start:from+i], "http"); mark == "://" && scheme > 0 {
				start += scheme // no space precedes the URL
			}
			end := len(text)
			if n := strings.IndexFunc(text[from+i:], isNoAddress); n >= 0 {
				end = from + i + n
			}
			address := text[start:end]
			if from = end; isAddress(address, mark) {
				list = append(list, address)
			}
		}
	}
	return list
}

func isNoAddress(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("<>()[]\"'`|,;«»“”„", r)
}

// isAddress reports whether a token that contains mark is an address that no earlier mark finds.
func isAddress(s, mark string) bool {
	switch mark {
	case "://":
		return strings.HasPrefix(s, "http")
	case "@":
		name, domain, _ := strings.Cut(s, "@")
		return name != "" && strings.Contains(domain, ".") && !strings.Contains(s, "://")
	}
	return !strings.Contains(s, "://") && !strings.Contains(s, "@")
}

// markupLinks calls add for each link of markup.
func markupLinks(markup string, add func(link)) {
	for n := 0; n < maxLinks; n++ {
		_, rest, ok := strings.Cut(markup, "<a ")
		if !ok {
			return
		}
		tag, rest, ok := strings.Cut(rest, ">")
		if !ok {
			return
		}
		inner, _, _ := strings.Cut(rest, "</a>")
		markup = rest
		if href := attribute(tag, "href"); strings.HasPrefix(href, "http") {
			add(link{
				address: html.UnescapeString(href),
				shown:   max(1, textBytes(inner)),
				paid:    slices.Contains(strings.Fields(attribute(tag, "rel")), "sponsored"),
			})
		}
	}
}

// attribute returns the quoted value of an attribute of a start tag, or "".
func attribute(tag, name string) string {
	_, rest, ok := strings.Cut(tag, name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// textBytes returns the number of bytes of markup outside of tags.
func textBytes(markup string) int {
	n, outside := 0, true
	for i := range len(markup) {
		switch c := markup[i]; {
		case c == '<':
			outside = false
		case c == '>':
			outside = true
		case outside:
			n++
		}
	}
	return n
}

// hostOf returns the host of a URL, or "" for a mail address.
func hostOf(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	} else if strings.HasPrefix(address, "mailto:") || strings.Contains(address, "@") {
		return ""
	}
	if end := strings.IndexAny(address, "/?#"); end >= 0 {
		address = address[:end]
	}
	if _, host, ok := strings.Cut(address, "@"); ok {
		address = host
	}
	address, _, _ = strings.Cut(address, ":")
	return strings.TrimPrefix(address, "www.")
}

// domainEndings are top-level domains that texts mention without http:// and that are not common endings of
// program and file names, unlike .io, .js and .net.
var domainEndings = func() map[string]bool {
	m := make(map[string]bool)
	for _, s := range strings.Fields("com org info biz ru ua by kz su uk us co tv xyz top club online site store shop vip bet casino loan win live click link icu рф") {
		m[s] = true
	}
	return m
}()

// isDomain reports whether a stem is a domain name.
func isDomain(s string) bool {
	i := strings.LastIndexByte(s, '.')
	return i > 0 && domainEndings[s[i+1:]]
}

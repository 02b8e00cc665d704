package spam

import (
	"html"
	"slices"
	"strings"
	"unicode"

	"feedmesh/classify/stem"
)

const (
	maxLinks   = 64   // of a document that are looked at
	maxAddress = 2000 // bytes of each
)

// A link is an address in a document, in small letters.
type link struct {
	address, host string
	shown         int  // bytes of text that it is under; 0 if the address stands in the text
	paid          bool // its markup says so
	own           bool // it is the document's own
}

// linksOf returns the addresses in a document, at most 64: its own, then those of
// its markup, then those of its text. Mailboxes are among them, without a host.
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

// addressesIn returns what stands in a text as the address of a page or a mailbox.
func addressesIn(text string) (list []string) {
	for _, mark := range [...]string{"://", "www.", "WWW.", "@"} {
		for from := 0; len(list) < maxLinks; {
			i := strings.Index(text[from:], mark)
			if i < 0 {
				break
			}
			start := strings.LastIndexFunc(text[:from+i], isNoAddress) + 1
			for start < from+i && text[start]&0xC0 == 0x80 { // behind the character found
				start++
			}
			if scheme := strings.LastIndex(text[start:from+i], "http"); mark == "://" && scheme > 0 {
				start += scheme // of an address that no space stands before
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

// isAddress reports whether a stretch of a text with a mark in it is an address,
// and one that no mark before it found.
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

// markupLinks hands the links of markup to add.
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

// attribute returns what a start tag has in quotes behind a name, or "".
func attribute(tag, name string) string {
	_, rest, ok := strings.Cut(tag, name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// textBytes returns how many bytes of markup stand outside of tags.
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

// hostOf returns the host of an address, or "" if it is a mailbox's.
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

// endings are those of domains that texts name without http://, and that are no
// endings of the names of programs and files, as .io, .js and .net are.
var endings = func() map[string]bool {
	m := make(map[string]bool)
	for _, s := range strings.Fields("com org info biz ru ua by kz su uk us co tv xyz top club online site store shop vip bet casino loan win live click link icu рф") {
		m[s] = true
	}
	return m
}()

// isDomain reports whether a stem is a domain that stands in a text.
func isDomain(s string) bool {
	i := strings.LastIndexByte(s, '.')
	return i > 0 && endings[s[i+1:]]
}

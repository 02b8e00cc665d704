package text

import (
	"regexp"
	"strings"
)

// A kind says what becomes of an element's tags and content.
type kind uint8

const (
	inline  kind = iota + 1 // kept; its content runs on in the line
	block                   // kept; begins and ends a line
	cell                    // kept; a table's cell, apart from the next by a space
	void                    // kept; has neither content nor end tag
	dropped                 // goes with its content
	code                    // goes with its content, even if it never ends
)

// elements lists the elements we keep and those that go with their content.
// Tags of all others go and their content stays.
var elements = kinds(map[kind]string{
	inline: "a abbr acronym b bdi bdo cite code del dfn em i ins kbd mark q rp rt ruby " +
		"s samp small strike strong sub sup time tt u var",
	block: "article aside blockquote caption dd details div dl dt figcaption figure " +
		"h1 h2 h3 h4 h5 h6 hgroup li ol p pre section summary table tbody tfoot thead tr ul",
	cell: "td th",
	void: "br hr img wbr",
	dropped: "applet audio button canvas datalist iframe map math meter noembed noframes object " +
		"progress select svg template textarea title video",
	code: "script style",
})

// renamed lists block elements that we keep as an element we allow, so that
// the words on their two sides stay apart.
var renamed = map[string]string{
	"address": "div", "center": "div", "dir": "ul", "fieldset": "div", "footer": "div",
	"form": "div", "header": "div", "legend": "div", "listing": "pre", "main": "div",
	"menu": "ul", "nav": "div", "xmp": "pre", "plaintext": "pre",
}

func kinds(lists map[kind]string) map[string]kind {
	m := make(map[string]kind)
	for k, list := range lists {
		for _, name := range strings.Fields(list) {
			m[name] = k
		}
	}
	return m
}

// attributes lists, by element and name, the attributes we keep and what their
// values must match; nil matches anything. URLs are looked at elsewhere. The
// element "" stands for all.
var attributes = map[string]map[string]*regexp.Regexp{
	"":           {"dir": direction},
	"a":          {"href": nil, "title": nil, "rel": linkRel},
	"abbr":       {"title": nil},
	"acronym":    {"title": nil},
	"blockquote": {"cite": nil},
	"del":        {"cite": nil, "datetime": datetime},
	"details":    {"open": regexp.MustCompile(`^(open)?$`)},
	"dfn":        {"title": nil},
	"img":        {"src": nil, "alt": nil, "title": nil, "width": size, "height": size},
	"ins":        {"cite": nil, "datetime": datetime},
	"li":         {"value": number},
	"ol":         {"start": number, "type": regexp.MustCompile(`^[aAiI1]$`), "reversed": regexp.MustCompile(`^(reversed)?$`)},
	"q":          {"cite": nil},
	"td":         {"colspan": number, "rowspan": number},
	"th":         {"colspan": number, "rowspan": number, "scope": regexp.MustCompile(`^(col|row|colgroup|rowgroup)$`)},
	"time":       {"datetime": datetime},
}

var (
	direction = regexp.MustCompile(`^(ltr|rtl|auto)$`)
	number    = regexp.MustCompile(`^[0-9]{1,4}$`)
	size      = regexp.MustCompile(`^[0-9]{1,5}%?$`)
	datetime  = regexp.MustCompile(`^[0-9TZ:.+ -]{1,40}$`)
	linkRel   = regexp.MustCompile(`^` + rel + `$`)
)

// rel keeps a link from passing on our good name, or our reader's address.
const rel = "nofollow noopener noreferrer"

// A scope says which open elements end before an element begins, and which
// ones stop the search for them.
type scope struct{ closes, within []string }

// ends lists what HTML lets authors leave out: the end tags that the start of
// an element implies.
var ends = map[string]scope{
	"a":       {[]string{"a"}, []string{"table", "td", "th"}},
	"caption": {},
	"dd":      {[]string{"dt", "dd"}, []string{"dl"}},
	"dt":      {[]string{"dt", "dd"}, []string{"dl"}},
	"li":      {[]string{"li"}, []string{"ul", "ol"}},
	"rp":      {[]string{"rt", "rp"}, []string{"ruby"}},
	"rt":      {[]string{"rt", "rp"}, []string{"ruby"}},
	"tbody":   tableSection,
	"td":      {[]string{"td", "th"}, []string{"table", "tr"}},
	"tfoot":   tableSection,
	"th":      {[]string{"td", "th"}, []string{"table", "tr"}},
	"thead":   tableSection,
	"tr":      {[]string{"tr", "caption"}, []string{"table"}},
}

var (
	tableSection = scope{[]string{"thead", "tbody", "tfoot", "caption"}, []string{"table"}}
	paragraph    = scope{[]string{"p"}, []string{"table", "td", "th", "caption"}}
)

// implied returns the scope of the element's start tag.
func implied(name string) scope {
	if s, ok := ends[name]; ok {
		return s
	}
	if elements[name] == block || name == "hr" {
		return paragraph
	}
	return scope{}
}

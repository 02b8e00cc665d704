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
	apart                   // its tags go; the words on their two sides stay apart
	embed                   // a document within ours, from a host that may show one
)

// elements lists all elements that may ever be kept, and those that go with
// their content. Tags of all others go and their content stays. A rule set
// chooses among those that are kept; nothing adds to them.
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

// kept reports whether we write the element's tags.
func (k kind) kept() bool {
	switch k {
	case inline, block, cell, void, embed:
		return true
	}
	return false
}

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

// attributes lists, by element and name, the attributes that may ever be kept
// and what their values must match; nil matches anything. Addresses are looked
// at elsewhere. The element "*" stands for all. Names, ids and handlers are not
// among them, and a rule set cannot add them.
var attributes = map[string]map[string]*regexp.Regexp{
	"*":          {"dir": direction, "lang": regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$`)},
	"a":          {"href": nil, "title": nil},
	"abbr":       {"title": nil},
	"acronym":    {"title": nil},
	"blockquote": {"cite": nil},
	"code":       {"class": regexp.MustCompile(`^lang(uage)?-[A-Za-z0-9+#-]{1,30}$`)},
	"del":        {"cite": nil, "datetime": datetime},
	"details":    {"open": regexp.MustCompile(`^(open)?$`)},
	"dfn":        {"title": nil},
	"iframe":     {"src": nil, "title": nil, "width": size, "height": size},
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
)

// rel keeps a link from passing on our good name, or our reader's address.
const rel = "nofollow noopener noreferrer"

// sandbox is what an embedded document may do: play its video, and nothing to
// the page around it. It is safe only where the host is not our own.
const sandbox = "allow-same-origin allow-scripts"

// forced lists the attributes that we set ourselves, always last.
var forced = map[string]attribute{"a": {"rel", rel}, "iframe": {"sandbox", sandbox}}

// forbidden says why elements and attributes that people ask for are not to be
// had.
var forbidden = map[string]string{
	"script": "it runs code", "style": "it hides and moves what is around it", "iframe": `list its hosts in "embeds" instead`,
	"object": "it runs code", "embed": "it runs code", "applet": "it runs code", "svg": "it runs code", "math": "browsers read it in several ways",
	"form": "it sends what readers type to strangers", "input": "it sends what readers type to strangers", "button": "it sends what readers type to strangers",
	"base": "it changes where all links lead", "meta": "it leads readers away", "link": "it loads styles",
	"template": "browsers read it in several ways", "noscript": "browsers read it in several ways",
	"srcdoc": "it runs code", "id": "scripts find elements by it", "name": "scripts find elements by it",
	"srcset": "we choose the best of it ourselves", "rel": "we set it ourselves", "sandbox": "we set it ourselves",
	"target": "it opens windows", "ping": "it tells strangers who reads", "action": "it sends what readers type to strangers", "formaction": "it runs code",
}

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

// implied returns the scope of the start tag of an element of kind k.
func implied(name string, k kind) scope {
	if s, ok := ends[name]; ok {
		return s
	}
	if k == block || name == "hr" {
		return paragraph
	}
	return scope{}
}

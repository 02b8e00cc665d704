package text

import (
	"regexp"
	"strings"
)

// A kind is the treatment of an element's tags and contents.
type kind uint8

const (
	inline     kind = iota + 1 // kept; its contents continue the line
	block                      // kept; begins and ends a line
	tableCell                  // kept; separated from the next cell by a space
	void                       // kept; has no contents and no end tag
	dropped                    // dropped with its contents
	droppedRaw                 // dropped with its contents, even without an end tag
	separator                  // tags dropped; the words on both sides stay separate
	embed                      // an embedded document from an allowed host
)

// elements lists all elements that can be kept, and those dropped with their contents. All others lose their
// tags and keep their contents. A rule set selects from this list and cannot extend it.
var elements = kinds(map[kind]string{
	inline: "a abbr acronym b bdi bdo cite code del dfn em i ins kbd mark q rp rt ruby " +
		"s samp small strike strong sub sup time tt u var",
	block: "article aside blockquote caption dd details div dl dt figcaption figure " +
		"h1 h2 h3 h4 h5 h6 hgroup li ol p pre section summary table tbody tfoot thead tr ul",
	tableCell: "td th",
	void:      "br hr img wbr",
	dropped: "applet audio button canvas datalist iframe map math meter noembed noframes object " +
		"progress select svg template textarea title video",
	droppedRaw: "script style",
})

// kept reports whether the element's tags are written.
func (k kind) kept() bool {
	switch k {
	case inline, block, tableCell, void, embed:
		return true
	}
	return false
}

// substitutes maps block elements to an allowed element that is written instead, so that the words on both
// sides stay separate.
var substitutes = map[string]string{
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

// attributes lists, by element and name, the attributes that can be kept and the pattern of their values; nil
// allows any value. URLs are checked elsewhere. The element "*" stands for all. Names, ids and event handlers
// are excluded, and a rule set cannot add them.
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

// rel prevents a link from passing on search ranking or the referrer.
const rel = "nofollow noopener noreferrer"

// sandbox lets an embedded document play its video, but not access the page around it. It is safe only if the
// host is not our own.
const sandbox = "allow-same-origin allow-scripts"

// fixedAttributes are set on every element of that name, always last.
var fixedAttributes = map[string]attribute{"a": {"rel", rel}, "iframe": {"sandbox", sandbox}}

// forbiddenReasons explains why certain elements and attributes cannot be kept.
var forbiddenReasons = map[string]string{
	"script": "it runs code", "style": "it can hide or move the page around it", "iframe": `list its hosts in "embeds" instead`,
	"object": "it runs code", "embed": "it runs code", "applet": "it runs code", "svg": "it runs code", "math": "browsers parse it differently",
	"form": "it sends user input to third parties", "input": "it sends user input to third parties", "button": "it sends user input to third parties",
	"base": "it changes the target of all links", "meta": "it redirects readers", "link": "it loads style sheets",
	"template": "browsers parse it differently", "noscript": "browsers parse it differently",
	"srcdoc": "it runs code", "id": "scripts find elements by it", "name": "scripts find elements by it",
	"srcset": "the best candidate is selected automatically", "rel": "it is set automatically", "sandbox": "it is set automatically",
	"target": "it opens new windows", "ping": "it reports readers to third parties", "action": "it sends user input to third parties", "formaction": "it runs code",
}

// A scope lists the open elements that end before an element begins, and the elements that stop the search
// for them.
type scope struct{ closes, within []string }

// impliedEnds lists the end tags that HTML lets authors omit: those implied by the start of an element.
var impliedEnds = map[string]scope{
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
	if s, ok := impliedEnds[name]; ok {
		return s
	}
	if k == block || name == "hr" {
		return paragraph
	}
	return scope{}
}

type attribute struct{ name, value string }

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
	droppedRaw                 // dropped with its source, even without an end tag
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
// are excluded, and a rule set cannot add them; anchors are ids of their own.
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

// An elementSet is a set of elements that scopes name. Each start tag may compare all open elements with a scope, so
// that comparing names instead would take most of the time on deeply nested markup.
type elementSet uint32

// elementSets has a set for each element that scopes name.
var elementSets = func() map[string]elementSet {
	sets := map[string]elementSet{}
	for i, name := range strings.Fields("a p table caption thead tbody tfoot tr td th dl dt dd ul ol li ruby rt rp") {
		sets[name] = 1 << i
	}
	return sets
}()

// setOf returns the set of elements whose names are separated by spaces.
func setOf(names string) (set elementSet) {
	for _, name := range strings.Fields(names) {
		set |= elementSets[name]
	}
	return set
}

// tableParts are a table and the elements that it consists of.
var tableParts = setOf("table caption thead tbody tfoot tr td th")

// A scope lists the open elements that end before an element begins, and the elements that stop the search
// for them.
type scope struct{ closes, within elementSet }

// impliedEnds lists the end tags that HTML lets authors omit: those implied by the start of an element.
var impliedEnds = map[string]scope{
	"a":       {setOf("a"), setOf("table td th")},
	"caption": {},
	"dd":      {setOf("dt dd"), setOf("dl")},
	"dt":      {setOf("dt dd"), setOf("dl")},
	"li":      {setOf("li"), setOf("ul ol")},
	"rp":      {setOf("rt rp"), setOf("ruby")},
	"rt":      {setOf("rt rp"), setOf("ruby")},
	"tbody":   tableSection,
	"td":      {setOf("td th"), setOf("table tr")},
	"tfoot":   tableSection,
	"th":      {setOf("td th"), setOf("table tr")},
	"thead":   tableSection,
	"tr":      {setOf("tr caption"), setOf("table")},
}

var (
	tableSection = scope{setOf("thead tbody tfoot caption"), setOf("table")}
	paragraph    = scope{setOf("p"), setOf("table td th caption")}
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

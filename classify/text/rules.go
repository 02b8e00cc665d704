package text

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"sync"

	"github.com/microcosm-cc/bluemonday"
)

// Rules say what becomes of strangers' markup, links and titles. They do not
// change and may be used concurrently; the zero Rules are of no use.
//
// Whatever a rule set says, what it lets through is safe to show: it chooses
// among elements, attributes and schemes that are, and cannot add to them.
type Rules struct {
	document   document
	kinds      map[string]kind
	attributes map[string]map[string]*regexp.Regexp
	policy     *bluemonday.Policy // has the last word on what we write
	embeds     map[string]bool    // hosts
	extensions map[string]bool    // of images, in lower case, without the dot
	lazy       map[string]bool    // attributes of images
	pixels     []pixel
	schemes    map[string]bool
	tracking   tracking
	tails      *regexp.Regexp  // matches a whole tail; nil if there are none
	acronyms   map[string]bool // in upper case
	feeds      map[string][]feedRule
}

// A document is a rule set as people write it. What one leaves out is as in
// the default; a list it gives takes the place of the default's.
type document struct {
	Elements   []string            `json:"elements"`   // that are kept; of others the tags go and the text stays
	Attributes map[string][]string `json:"attributes"` // that are kept, by element; "*" stands for all elements
	Embeds     []string            `json:"embeds"`     // hosts whose documents may be shown in an iframe
	Images     imageRules          `json:"images"`
	Links      linkRules           `json:"links"`
	Tails      []string            `json:"tails"` // patterns (RE2) of what a text does not end in; they ignore case
	Titles     titleRules          `json:"titles"`
	Feeds      []feedDocument      `json:"feeds"`
}

type imageRules struct {
	Extensions []string `json:"extensions"` // an image's address ends in one of these, or in none
	Data       int      `json:"data"`       // bytes that an image in a data: address may have; 0 for none
	Lazy       []string `json:"lazy"`       // attributes that hold the address until a script loads it, best first
	Pixels     []string `json:"pixels"`     // host/path of images that only count readers; see pixel
}

type linkRules struct {
	Schemes  []string  `json:"schemes"`
	Rewrite  []rewrite `json:"rewrite"`
	Tracking []string  `json:"tracking"` // parameters that go: "name", "begin*", "name=value" or "name=begin*"
}

// A rewrite gives addresses that begin with From another beginning.
type rewrite struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type titleRules struct {
	Calm     bool     `json:"calm"`     // SHOUTED TITLES become sentences
	CutSite  bool     `json:"cutSite"`  // the feed's own title goes from the end
	Acronyms []string `json:"acronyms"` // stay in upper case
}

// A feedDocument says what of a feed's items is text and what is not.
type feedDocument struct {
	Match string   `json:"match"` // host (and those below it), or the beginning of the feed's address
	Pick  []string `json:"pick"`  // CSS selectors, or XPaths if they begin with / or (
	Cut   []string `json:"cut"`
}

// defaults is the rule set that ships with the program, written from common
// knowledge of what publishers' tools do, and checked against some hundred real
// feeds. Of tracking parameters: utm_ is Google's, fbclid Facebook's, gclid,
// dclid, gbraid and wbraid Google Ads', msclkid Microsoft's, yclid and ysclid
// Yandex's, mc_ Mailchimp's, _hs and hsa_ HubSpot's, mkt_tok Marketo's, vero_
// Vero's, oly_ Omeda's, igsh Instagram's, at_ and xtor those of AT Internet,
// wt_mc Webtrekk's, CMP the Guardian's, hfmm and wprss those of feed plugins.
// Of pixels: stats.wordpress.com and pixel.wp.com are WordPress's, /~r/ and
// /~ff/ FeedBurner's (on its customers' hosts as well), feedsportal.com
// Mediafed's, vgwort.de that of the German authors' collecting society.
//
//go:embed default.json
var defaults []byte

// Default returns the rules that ship with the program.
func Default() *Rules { return defaultRules() }

var defaultRules = sync.OnceValue(func() *Rules {
	r, err := parse(defaults, document{})
	if err != nil {
		panic(err) // our own document: the tests read it
	}
	return r
})

// MarshalJSON returns the whole rule set as a document that [Parse] reads.
func (r *Rules) MarshalJSON() ([]byte, error) { return json.Marshal(r.document) }

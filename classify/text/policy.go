package text

import (
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
)

// newPolicy allows what the rules do: with the default ones bluemonday's
// UGCPolicy less ids, image maps, forms' relics and relative addresses, which
// that policy has no way of taking back.
func newPolicy(r *Rules) *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	for name, k := range r.kinds {
		if !k.kept() {
			continue
		}
		p.AllowElements(name)
		if name != "a" && name != "img" && name != "iframe" {
			p.AllowNoAttrs().OnElements(name)
		}
	}
	for element, list := range r.attributes {
		for name, must := range list {
			if element == "iframe" && name == "src" {
				must = embedSource(r.document.Embeds)
			}
			allowAttribute(p, r, element, name, must)
		}
	}
	for element, a := range forced {
		allowAttribute(p, r, element, a.name, exactly(a.value))
	}
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.AllowURLSchemes(r.document.Links.Schemes...)
	if r.document.Images.Data > 0 {
		p.AllowDataURIImages()
	}
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return p
}

// allowAttribute allows what matches must, or anything if that is nil. An
// element must be allowed already: to bluemonday its attributes mean that it is.
func allowAttribute(p *bluemonday.Policy, r *Rules, element, name string, must *regexp.Regexp) {
	allow := p.AllowAttrs(name)
	if must != nil {
		allow = allow.Matching(must)
	}
	switch {
	case element == "*":
		allow.Globally()
	case r.kinds[element].kept():
		allow.OnElements(element)
	}
}

func exactly(s string) *regexp.Regexp { return regexp.MustCompile("^" + regexp.QuoteMeta(s) + "$") }

// embedSource matches the addresses of documents at one of the hosts.
func embedSource(hosts []string) *regexp.Regexp {
	quoted := slices.Clone(hosts)
	for i, host := range quoted {
		quoted[i] = regexp.QuoteMeta(host)
	}
	return regexp.MustCompile("^https://(" + strings.Join(quoted, "|") + ")/")
}

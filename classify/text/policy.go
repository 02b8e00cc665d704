package text

import (
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
)

// newPolicy builds a policy that allows exactly what the rules allow: with the default rules bluemonday's
// UGCPolicy without ids other than anchors, image maps, remains of forms and relative URLs, which that policy cannot revoke.
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
	allowAttribute(p, r, "*", "id", anchorID)
	for element, a := range fixedAttributes {
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

// allowAttribute allows values that match must, or any if must is nil. The element must already be allowed,
// because bluemonday allows an element if it allows an attribute of it.
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

// embedSource matches the URLs of documents at one of the hosts.
func embedSource(hosts []string) *regexp.Regexp {
	quoted := slices.Clone(hosts)
	for i, host := range quoted {
		quoted[i] = regexp.QuoteMeta(host)
	}
	return regexp.MustCompile("^https://(" + strings.Join(quoted, "|") + ")/")
}

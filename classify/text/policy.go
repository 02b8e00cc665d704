package text

import "github.com/microcosm-cc/bluemonday"

// policy allows what the tables in this package list: bluemonday's UGCPolicy
// less ids, image maps, forms' relics and relative addresses, which that policy
// has no way of taking back.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	for name, k := range elements {
		if k == dropped || k == code {
			continue
		}
		p.AllowElements(name)
		if name != "a" && name != "img" {
			p.AllowNoAttrs().OnElements(name)
		}
	}
	for element, list := range attributes {
		for name, must := range list {
			allow := p.AllowAttrs(name)
			if must != nil {
				allow = allow.Matching(must)
			}
			if element == "" {
				allow.Globally()
			} else {
				allow.OnElements(element)
			}
		}
	}
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return p
}

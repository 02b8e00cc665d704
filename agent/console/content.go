package console

import (
	"html/template"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// demoted says what becomes of the headings in an item, whose title is the one
// first-level heading of its page.
var demoted = map[atom.Atom]atom.Atom{
	atom.H1: atom.H2, atom.H2: atom.H3, atom.H3: atom.H4, atom.H4: atom.H5, atom.H5: atom.H6,
}

// content makes an item's HTML part of a page. It is safe to show as it is: at
// ingest our own policy (package classify/text) left only listed elements and
// attributes, with neither scripts nor styles. Read and written anew here, it
// cannot end an element of the page around it; its images load when they come
// into view.
func content(clean string) template.HTML {
	around := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader(clean), around)
	if err != nil {
		// Nested too deeply for a browser as well; its source can still be read.
		return template.HTML("<pre>" + template.HTMLEscapeString(clean) + "</pre>")
	}
	var b strings.Builder
	for _, n := range nodes {
		fit(n)
		for child := range n.Descendants() {
			fit(child)
		}
		if err := html.Render(&b, n); err != nil {
			return template.HTML("<pre>" + template.HTMLEscapeString(clean) + "</pre>")
		}
	}
	return template.HTML(b.String())
}

// fit suits an element to the page.
func fit(n *html.Node) {
	if n.Type != html.ElementNode {
		return
	}
	if level, ok := demoted[n.DataAtom]; ok {
		n.DataAtom, n.Data = level, level.String()
	}
	if n.DataAtom == atom.Img {
		n.Attr = append(n.Attr, html.Attribute{Key: "loading", Val: "lazy"}, html.Attribute{Key: "decoding", Val: "async"})
	}
}

package console

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"feedmesh/storage"
)

// demotedHeadings maps the headings of an item to lower levels: the item's title is the page's h1.
var demotedHeadings = map[atom.Atom]atom.Atom{
	atom.H1: atom.H2, atom.H2: atom.H3, atom.H3: atom.H4, atom.H4: atom.H5, atom.H5: atom.H6,
}

// loadingElements are elements that make a browser load external resources.
var loadingElements = []atom.Atom{atom.Img, atom.Image, atom.Source, atom.Track, atom.Video, atom.Audio, atom.Iframe, atom.Embed, atom.Object}

// content returns an item's HTML for embedding in a page. Ingest has sanitized it (package classify/text):
// only listed elements and attributes remain, without scripts and styles. Parsing and rendering it again
// closes all elements, so it cannot break out of its container. Images become links, so that the publisher
// cannot track readers.
func content(clean string) template.HTML {
	around := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader(clean), around)
	if err != nil {
		// The HTML is nested too deeply: show its source.
		return template.HTML("<pre>" + template.HTMLEscapeString(clean) + "</pre>")
	}
	for _, n := range nodes {
		around.AppendChild(n)
	}
	for _, n := range slices.Collect(around.Descendants()) {
		if level, ok := demotedHeadings[n.DataAtom]; ok && n.Type == html.ElementNode {
			n.DataAtom, n.Data = level, level.String()
		}
		if slices.Contains(loadingElements, n.DataAtom) && n.Type == html.ElementNode {
			replaceWithLink(n)
		}
	}
	var b strings.Builder
	for n := range around.ChildNodes() {
		if err := html.Render(&b, n); err != nil {
			return template.HTML("<pre>" + template.HTMLEscapeString(clean) + "</pre>")
		}
	}
	return template.HTML(b.String())
}

// replaceWithLink replaces an element that loads a resource with a link to it, placed after any enclosing
// link. The script item.js replaces links of images with the image on request.
func replaceWithLink(n *html.Node) {
	place := n
	for up := n.Parent; up != nil; up = up.Parent {
		if up.DataAtom == atom.A {
			place = up
		}
	}
	if address := storage.WebURL(attribute(n, "src")); address != "" {
		link := &html.Node{Type: html.ElementNode, Data: "a", DataAtom: atom.A, Attr: []html.Attribute{
			{Key: "href", Val: address}, {Key: "rel", Val: "noopener noreferrer nofollow"},
		}}
		words := cmp.Or(attribute(n, "alt"), host(address))
		if n.DataAtom == atom.Img || n.DataAtom == atom.Image {
			link.Attr = append(link.Attr, html.Attribute{Key: "class", Val: "picture"}, html.Attribute{Key: "data-picture", Val: attribute(n, "alt")})
			words = "Picture: " + words
		}
		link.AppendChild(&html.Node{Type: html.TextNode, Data: words})
		if place.Parent != nil {
			place.Parent.InsertBefore(link, place.NextSibling)
		}
	}
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
	if place != n && textOf(place) == "" { // the link contained only this element
		place.AppendChild(&html.Node{Type: html.TextNode, Data: cmp.Or(host(attribute(place, "href")), "Link")})
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}

// textOf returns the text of a node, trimmed.
func textOf(n *html.Node) string {
	var b strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			b.WriteString(child.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

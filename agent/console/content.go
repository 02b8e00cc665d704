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

// demoted says what becomes of the headings in an item, whose title is the one
// first-level heading of its page.
var demoted = map[atom.Atom]atom.Atom{
	atom.H1: atom.H2, atom.H2: atom.H3, atom.H3: atom.H4, atom.H4: atom.H5, atom.H5: atom.H6,
}

// loading lists the elements that would have a browser load something of itself.
var loading = []atom.Atom{atom.Img, atom.Image, atom.Source, atom.Track, atom.Video, atom.Audio, atom.Iframe, atom.Embed, atom.Object}

// content makes an item's HTML part of a page. It is safe to show as it is: at
// ingest our own policy (package classify/text) left only listed elements and
// attributes, with neither scripts nor styles. Read and written anew here, it
// cannot end an element of the page around it. Its images are links, so that
// nobody learns who reads it, nor when, before that person asks for them.
func content(clean string) template.HTML {
	around := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader(clean), around)
	if err != nil {
		// Nested too deeply for a browser as well; its source can still be read.
		return template.HTML("<pre>" + template.HTMLEscapeString(clean) + "</pre>")
	}
	for _, n := range nodes {
		around.AppendChild(n)
	}
	for _, n := range slices.Collect(around.Descendants()) {
		if level, ok := demoted[n.DataAtom]; ok && n.Type == html.ElementNode {
			n.DataAtom, n.Data = level, level.String()
		}
		if slices.Contains(loading, n.DataAtom) && n.Type == html.ElementNode {
			unload(n)
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

// unload puts a link in the place of an element that would load something, after
// the link that it may be part of. Script item.js shows an image in that place if
// it is asked to.
func unload(n *html.Node) {
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
	if place != n && wordsOf(place) == "" { // a link that was nothing but this
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

// wordsOf returns the text of a node, without space around it.
func wordsOf(n *html.Node) string {
	var b strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			b.WriteString(child.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

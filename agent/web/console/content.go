package console

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"feedmesh/agent/service/imageproxy"
	"feedmesh/agent/web/console/sharing"
	"feedmesh/agent/web/locale"
	"feedmesh/classify/text"
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
// closes all elements, so it cannot break out of its container. Links to footnotes stay within the page. Images for which
// picture returns a path are loaded from there; others, and all other resources, become links with labels in the language,
// so that the publisher cannot track readers.
func content(l *locale.Language, item storage.Item, picture func(address string) (path string, shown bool)) template.HTML {
	around := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader(item.HTML), around)
	if err != nil {
		// The HTML is nested too deeply: show its source.
		return template.HTML("<pre>" + template.HTMLEscapeString(item.HTML) + "</pre>")
	}
	for _, n := range nodes {
		around.AppendChild(n)
	}
	linkWithin(around, item)
	for _, n := range slices.Collect(around.Descendants()) {
		if level, ok := demotedHeadings[n.DataAtom]; ok && n.Type == html.ElementNode {
			n.DataAtom, n.Data = level, level.String()
		}
		if slices.Contains(loadingElements, n.DataAtom) && n.Type == html.ElementNode {
			path, shown := "", false
			if n.DataAtom == atom.Img || n.DataAtom == atom.Image {
				path, shown = picture(attribute(n, "src"))
			}
			if shown {
				showFrom(n, path)
			} else {
				replaceWithLink(l, n, path)
			}
		}
	}
	var b strings.Builder
	for n := range around.ChildNodes() {
		if err := html.Render(&b, n); err != nil {
			return template.HTML("<pre>" + template.HTMLEscapeString(item.HTML) + "</pre>")
		}
	}
	return template.HTML(b.String())
}

// linkWithin makes links from an item's text to elements of the same text, such as footnotes, lead there instead of to the
// publisher's page. The ids get the item's ID, because a page may show several items.
func linkWithin(around *html.Node, item storage.Item) {
	anchors := make(map[string]*html.Node)
	for n := range around.Descendants() {
		if name, is := strings.CutPrefix(attribute(n, "id"), text.AnchorPrefix); is {
			anchors[name] = n
		}
	}
	if len(anchors) == 0 {
		return
	}
	own, _, _ := strings.Cut(item.URL, "#")
	for n := range around.Descendants() {
		address, name, is := strings.Cut(attribute(n, "href"), "#")
		if target := anchors[name]; is && target != nil && address == own {
			id := text.AnchorPrefix + item.ID + "-" + name
			n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "rel" })
			setAttribute(n, "href", "#"+id)
			setAttribute(target, "id", id)
		}
	}
}

func setAttribute(n *html.Node, name, value string) {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			n.Attr[i].Val = value
		}
	}
}

// showFrom makes an image load from a path, once it is in view.
func showFrom(n *html.Node, path string) {
	n.DataAtom, n.Data = atom.Img, "img"
	n.Attr = []html.Attribute{
		{Key: "src", Val: path}, {Key: "alt", Val: attribute(n, "alt")}, {Key: "title", Val: attribute(n, "title")}, {Key: "loading", Val: "lazy"}, {Key: "decoding", Val: "async"},
	}
	if n.Attr[2].Val == "" {
		n.Attr = slices.Delete(n.Attr, 2, 3)
	}
}

// replaceWithLink replaces an element that loads a resource with a link to it, placed after any enclosing
// link. A script replaces links of images that have a path with the image on request.
func replaceWithLink(l *locale.Language, n *html.Node, path string) {
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
			link.Attr = append(link.Attr, html.Attribute{Key: "class", Val: "picture"})
			if path != "" {
				link.Attr = append(link.Attr, html.Attribute{Key: "data-picture", Val: path}, html.Attribute{Key: "data-alt", Val: attribute(n, "alt")})
			}
			words = locale.T("Picture: %s", words).In(l)
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
		place.AppendChild(&html.Node{Type: html.TextNode, Data: cmp.Or(host(attribute(place, "href")), locale.T("Link").In(l))})
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

// pictureCookie is the cookie with which pictures a reader chose to see.
const pictureCookie = "pictures"

// Which pictures are shown; the first is the default.
const (
	allPictures   = "all"
	smallPictures = "small"
	noPictures    = "none"
)

var pictureChoices = []string{allPictures, smallPictures, noPictures}

// pictureChoice returns which pictures the reader chose to see.
func pictureChoice(r *http.Request) string {
	if c, err := r.Cookie(pictureCookie); err == nil && slices.Contains(pictureChoices, c.Value) {
		return c.Value
	}
	return allPictures
}

// choosePictures keeps the reader's choice for a year.
func (c readingPages) choosePictures(w http.ResponseWriter, r *http.Request) {
	if choice := formValue(w, r, "pictures"); slices.Contains(pictureChoices, choice) {
		http.SetCookie(w, &http.Cookie{Name: pictureCookie, Value: choice, Path: "/", MaxAge: 365 * 24 * 60 * 60, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	http.Redirect(w, r, backTo(formValue(w, r, "back")), http.StatusSeeOther)
}

// picturesOf returns the function by which the text of an item shows its pictures.
func picturesOf(item storage.Item, choice string) func(address string) (path string, shown bool) {
	size := imageproxy.Large
	if choice == smallPictures {
		size = imageproxy.Small
	}
	return func(address string) (string, bool) {
		if !slices.Contains(item.Images, address) {
			return "", false
		}
		return imageproxy.Path(item.ID, address, size), choice != noPictures
	}
}

// picturePolicy is the content security policy of a picture that is opened as a page.
const picturePolicy = "default-src 'none'; sandbox; frame-ancestors 'none'"

// picture sends a picture of an item. Its path is that of the address at the publisher, so browsers need not request it
// again.
func (c itemPages) picture(w http.ResponseWriter, r *http.Request) {
	shown, err := c.Pictures.Of(r.Context(), r.PathValue("id"), r.PathValue("name"), imageproxy.Size(r.PathValue("size")))
	h := w.Header()
	h.Set("Content-Security-Policy", picturePolicy)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		http.Error(w, "There is no such picture.", http.StatusNotFound)
		return
	case errors.Is(err, imageproxy.ErrNoPicture):
		h.Set("Cache-Control", "private, max-age=600")
		http.Error(w, "The publisher's server sends no picture that can be shown.", http.StatusBadGateway)
		return
	case err != nil:
		http.Error(w, "The picture is not available at the moment.", http.StatusServiceUnavailable)
		return
	}
	h.Set("Content-Type", shown.Type)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	w.Write(shown.Content)
}

// iconOf returns the path of the icon of a feed's site; empty if the reader chose to see no pictures.
func iconOf(r *http.Request, feedID string) string {
	if feedID == "" || !ShowsPictures(r) {
		return ""
	}
	return feedPath(feedID) + "/icon"
}

// How long browsers keep icons, in seconds: for a minute while the icon is still fetched.
const (
	iconAge    = "private, max-age=86400"
	waitingAge = "private, max-age=60"
)

// icon sends the icon of a feed's site.
func (c feedPages) icon(w http.ResponseWriter, r *http.Request) {
	icon, final, err := c.Pictures.Icon(r.Context(), r.PathValue("id"))
	h := w.Header()
	h.Set("Content-Security-Policy", picturePolicy)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		http.Error(w, "There is no such feed.", http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, "The icon is not available at the moment.", http.StatusServiceUnavailable)
		return
	}
	h.Set("Content-Type", icon.Type)
	h.Set("Cache-Control", waitingAge)
	if final {
		h.Set("Cache-Control", iconAge)
	}
	w.Write(icon.Content)
}

// A sharePage edits the services that items are shared with.
type sharePage struct {
	Services, Presets string
	Error             locale.Text
}

// sharing shows the services.
func (c readingPages) sharing(w http.ResponseWriter, r *http.Request) {
	c.showSharing(w, r, http.StatusOK, sharePage{Services: sharing.Format(sharing.Of(r))})
}

func (c readingPages) showSharing(w http.ResponseWriter, r *http.Request, status int, main sharePage) {
	main.Presets = sharing.Format(sharing.Presets)
	c.render(w, r, status, "share-page", page{Title: locale.T("Services to share items with"), Main: main})
}

// setSharing replaces the services, or states which line is invalid.
func (c readingPages) setSharing(w http.ResponseWriter, r *http.Request) {
	services := formValue(w, r, "services")
	list, err := sharing.Parse(services)
	if err != nil {
		c.showSharing(w, r, http.StatusUnprocessableEntity, sharePage{Services: services, Error: locale.T("Not saved: %s.", locale.Composed(err.Error()))})
		return
	}
	sharing.Set(w, list)
	http.Redirect(w, r, readPath+"/share", http.StatusSeeOther)
}

package page

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// Bounds of a page, so that the finder, whose time grows with them, takes two
// seconds at most.
const (
	maxTokens = 100_000 // tags and texts
	maxNodes  = 200_000 // that they may become
	maxNames  = 1000    // bytes of a title, and of the names that an element is given
)

// isHTML reports whether a document is a web page: by its Content-Type, or where
// that says nothing, by how it begins.
func isHTML(body []byte, contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	if kind == "" {
		kind, _, _ = strings.Cut(http.DetectContentType(body), ";")
	}
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// decode returns a page as UTF-8. What it believes, in this order: the byte order
// mark, bytes that are UTF-8, the Content-Type, the page's own meta elements.
// Bytes that mean nothing become U+FFFD.
func decode(body []byte, contentType string) []byte {
	encoding, name, _ := charset.DetermineEncoding(body, contentType)
	if name == "utf-8" || utf8.Valid(body) && !slices.Contains(escaped, name) {
		return bytes.ToValidUTF8(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), []byte("\uFFFD"))
	}
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		text = body
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}

// escaped are encodings that write other characters in bytes that are all ASCII,
// or whose byte order mark was seen.
var escaped = []string{"iso-2022-jp", "utf-16le", "utf-16be"}

// parse returns the tree of a page. It returns [ErrTooLarge] for one of too many
// elements, and an error for one of too many inside one another.
func parse(text []byte) (*html.Node, error) {
	if !fits(text) {
		return nil, ErrTooLarge
	}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	cut(root)
	return root, nil
}

// cut cuts long titles and names, which the finder looks at again and again.
func cut(root *html.Node) {
	short := func(s *string) {
		if len(*s) > maxNames {
			*s = strings.ToValidUTF8((*s)[:maxNames], "")
		}
	}
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data == "title" {
			short(&n.Data)
		}
		for i, a := range n.Attr {
			switch a.Key {
			case "class", "id", "rel", "role", "name", "property", "itemprop":
				short(&n.Attr[i].Val)
			}
		}
	}
}

// formatting are the elements that, left open, a browser opens again in each
// paragraph: a few hundred of them make a small page one of millions of elements.
var formatting = map[string]bool{
	"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true,
	"s": true, "small": true, "strike": true, "strong": true, "tt": true, "u": true,
}

// fits reports whether a page has as many elements as may be read, at most, before
// any of them takes memory.
func fits(text []byte) bool {
	tokens, nodes, open := 0, 0, 0
	z := html.NewTokenizer(bytes.NewReader(text))
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return true
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			if name, _ := z.TagName(); formatting[string(name)] {
				if kind != html.EndTagToken { // one that closes itself does not, in HTML
					open++
				} else if open > 0 {
					open--
				}
			}
		}
		tokens++
		if nodes += 1 + open; tokens > maxTokens || nodes > maxNodes {
			return false
		}
	}
}

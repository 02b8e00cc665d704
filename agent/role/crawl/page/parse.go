package page

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// Reasons why a page has no article.
var (
	ErrNotHTML   = errors.New("not an HTML page")
	ErrTooLarge  = errors.New("the page is too large")
	ErrNoArticle = errors.New("no article found on the page")
)

// Bounds of a page. The time of go-readability grows with them; they limit it to two seconds.
const (
	maxTokens = 100_000 // tags and texts
	maxNodes  = 200_000 // elements and texts after parsing
	maxNames  = 1000    // bytes of a title, and of an element's class and names
)

// isHTML reports whether a document is a web page: by its Content-Type, or without one by its first bytes.
func isHTML(body []byte, contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	if kind == "" {
		kind, _, _ = strings.Cut(http.DetectContentType(body), ";")
	}
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// decode returns a page as UTF-8. Evidence of the encoding, strongest first: the byte order mark, bytes that
// are valid UTF-8, the Content-Type, the page's meta elements. Invalid bytes become U+FFFD.
func decode(body []byte, contentType string) []byte {
	encoding, name, _ := charset.DetermineEncoding(body, contentType)
	if name == "utf-8" || utf8.Valid(body) && !slices.Contains(escapedEncodings, name) {
		return bytes.ToValidUTF8(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), []byte("\uFFFD"))
	}
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		text = body
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}

// escapedEncodings are encodings that write other characters in ASCII bytes only, or that a byte order mark
// identified.
var escapedEncodings = []string{"iso-2022-jp", "utf-16le", "utf-16be"}

// parse returns the tree of a page. It returns [ErrTooLarge] for too many elements, and another error for
// elements nested too deep.
func parse(text []byte) (*html.Node, error) {
	if !withinBounds(text) {
		return nil, ErrTooLarge
	}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("parse the page: %w", err)
	}
	truncateNames(root)
	return root, nil
}

// truncateNames truncates long titles and names, which go-readability scans repeatedly.
func truncateNames(root *html.Node) {
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

// formatting are the elements that, if unclosed, a browser opens again in each paragraph: a few hundred of
// them turn a small page into millions of elements.
var formatting = map[string]bool{
	"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true,
	"s": true, "small": true, "strike": true, "strong": true, "tt": true, "u": true,
}

// withinBounds reports whether a page is within the bounds, without building the tree.
func withinBounds(text []byte) bool {
	tokens, nodes, open := 0, 0, 0
	z := html.NewTokenizer(bytes.NewReader(text))
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return true
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			if name, _ := z.TagName(); formatting[string(name)] {
				if kind != html.EndTagToken { // HTML ignores the slash of a self-closing tag
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

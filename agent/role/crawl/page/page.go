// Package page extracts the article of a web page without menus, advertisements and the like.
//
// [Extract] runs go-readability on a page whose size and number of elements are checked first, which bounds
// the time that a worker spends on any page. The package does not depend on HTTP, queues or storage. Its
// results are untrusted: bounded in size, but not sanitized.
package page

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
)

// MaxPage bounds the size of a page, in bytes.
const MaxPage = 5 << 20

// Article is an extracted article. All strings are valid UTF-8, and "" if missing.
type Article struct {
	Title     string
	HTML      string // untrusted; its addresses are absolute
	Text      string // the visible text
	Image     string // the image that the page names for the article, absolute http(s)
	Byline    string
	Language  string    // as declared, for example "en-US"
	Published time.Time // zero unless the page states it with its zone
}

// Extract returns the article of a page with its address and its Content-Type, which may be empty. It returns
// [ErrNotHTML], [ErrTooLarge], [ErrNoArticle], or another error if the page can't be parsed. The result does
// not alias body, whose buffer the caller may reuse. Concurrent workers may call Extract.
func Extract(body []byte, contentType string, address *url.URL) (found Article, err error) {
	// A panic in go-readability, a large dependency, makes this page fail, not the process.
	defer func() {
		if p := recover(); p != nil {
			found, err = Article{}, fmt.Errorf("the parser failed: %v", p)
		}
	}()
	if len(body) > MaxPage {
		return Article{}, ErrTooLarge
	}
	if !isHTML(body, contentType) {
		return Article{}, ErrNotHTML
	}
	root, err := parse(decode(body, contentType))
	if err != nil {
		return Article{}, err
	}
	published := published(root) // before go-readability, which modifies the tree
	finder := readability.NewParser()
	a, err := finder.ParseAndMutate(root, address)
	if err != nil {
		return Article{}, fmt.Errorf("extract the article: %w", err)
	}
	if a.Node == nil {
		return Article{}, ErrNoArticle
	}
	var text, markup strings.Builder
	if err := errors.Join(a.RenderText(&text), a.RenderHTML(&markup)); err != nil {
		return Article{}, fmt.Errorf("render the article: %w", err)
	}
	if strings.TrimSpace(text.String()) == "" {
		return Article{}, ErrNoArticle
	}
	return Article{
		Title: cleanText(a.Title()), HTML: cleanText(markup.String()), Text: cleanText(text.String()), Image: absolute(address, a.ImageURL()),
		Byline: cleanText(a.Byline()), Language: cleanText(a.Language()), Published: published,
	}, nil
}

func cleanText(s string) string { return strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD") }

// absolute returns the absolute http or https address of ref on the page, or "".
func absolute(page *url.URL, ref string) string {
	if ref = strings.TrimSpace(ref); ref == "" {
		return ""
	}
	u, err := page.Parse(ref)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// published returns the publication time that the page states, or zero. Only machine-readable times with a
// zone are accepted.
func published(root *html.Node) time.Time {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "meta" {
			continue
		}
		name, content := "", ""
		for _, a := range n.Attr {
			switch a.Key {
			case "property", "itemprop", "name":
				name = strings.ToLower(a.Val)
			case "content":
				content = strings.TrimSpace(a.Val)
			}
		}
		if name != "article:published_time" && name != "datepublished" {
			continue
		}
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05Z07:00"} {
			if at, err := time.Parse(layout, content); err == nil {
				return at.UTC()
			}
		}
	}
	return time.Time{}
}

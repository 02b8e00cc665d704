// Package page finds the article on a web page: what a reader came for, without
// menus, advertisements and the like. go-readability does the finding; this
// package stands before it, so that no page costs more than it may. It knows
// nothing of HTTP, queues or storage. What it returns is what strangers wrote:
// bounded, but not clean.
package page

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"codeberg.org/readeck/go-readability"
	"golang.org/x/net/html"
)

// MaxPage is the largest page that is read, in bytes.
const MaxPage = 5 << 20

// Why there is no article.
var (
	ErrNotHTML   = errors.New("it is no HTML page")
	ErrTooLarge  = errors.New("the page is too large to be read")
	ErrNoArticle = errors.New("no article is seen on the page")
)

// Found is an article. All strings are valid UTF-8, and "" where the page does
// not have them.
type Found struct {
	Title     string
	HTML      string // untrusted; addresses in it are absolute
	Text      string // what a reader sees of it
	Image     string // what the page names as its image, absolute http(s)
	Byline    string
	Language  string    // as the page declares it, as "en-US"
	Published time.Time // zero where the page does not say it beyond doubt
}

// Article returns the article on a page that came from an address, with the
// Content-Type it came with, which may be empty. It returns [ErrNotHTML],
// [ErrTooLarge], [ErrNoArticle], or an error that says why the page can't be read.
func Article(body []byte, contentType string, address *url.URL) (found Found, err error) {
	// Input must never panic, but the finder is a large part of strangers' code;
	// that costs the page only.
	defer func() {
		if p := recover(); p != nil {
			found, err = Found{}, fmt.Errorf("the page broke the reader: %v", p)
		}
	}()
	if len(body) > MaxPage {
		return Found{}, ErrTooLarge
	}
	if !isHTML(body, contentType) {
		return Found{}, ErrNotHTML
	}
	root, err := parse(decode(body, contentType))
	if err != nil {
		return Found{}, err
	}
	published := published(root) // before the finder, which takes the page apart
	finder := readability.NewParser()
	a, err := finder.ParseAndMutate(root, address)
	if err != nil {
		return Found{}, fmt.Errorf("look for the article: %w", err)
	}
	if strings.TrimSpace(a.TextContent) == "" {
		return Found{}, ErrNoArticle
	}
	return Found{
		Title: valid(a.Title), HTML: valid(a.Content), Text: valid(a.TextContent), Image: absolute(address, a.Image),
		Byline: valid(a.Byline), Language: valid(a.Language), Published: published,
	}, nil
}

func valid(s string) string { return strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD") }

// absolute returns the http or https address that ref means on the page, or "".
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

// published returns when the page says that it was published, or zero. Only what
// is written for machines, with its zone, is beyond doubt.
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

// Package sharing has the services to which a reader sends items: templates of addresses, which the browser keeps in a
// cookie, so that the links of an item need no scripts.
package sharing

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"feedmesh/agent/web/locale"
)

// Bounds of the list of services.
const (
	maxTargets = 20
	maxName    = 40   // bytes
	maxList    = 2500 // bytes of all lines: a cookie has at most 4,096, and base64 takes a third more
)

const cookie = "share"

// Placeholders of a template.
const (
	urlPlace   = "{url}"
	titlePlace = "{title}"
)

// A Target is a service with the template of an address that contains {url}, and {title} if it takes one.
type Target struct{ Name, Template string }

// A Link is the address that sends an item to a service.
type Link struct {
	Label locale.Text
	URL   string
}

// Presets are services whose addresses are documented. Those that run on the reader's own host have an example host.
var Presets = []Target{
	{"Readwise Reader", "https://wise.readwise.io/save?url={url}"},
	{"Raindrop", "https://app.raindrop.io/add?link={url}&title={title}"},
	{"Pinboard", "https://pinboard.in/add?next=same&url={url}&title={title}"},
	{"Instapaper", "https://www.instapaper.com/hello2?url={url}&title={title}"},
	{"Wallabag", "https://wallabag.example.org/bookmarklet?url={url}"},
	{"Linkding", "https://linkding.example.org/bookmarks/new?url={url}&title={title}&auto_close"},
	{"Mastodon", "https://mastodon.social/share?text={title}%20{url}"},
}

// Parse returns the services of a text with a line "name|template" for each. Empty lines are ignored. The error names the
// line.
func Parse(text string) (list []Target, err error) {
	if len(text) > maxList {
		return nil, fmt.Errorf("the list is longer than %d bytes", maxList)
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, template, _ := strings.Cut(line, "|")
		t := Target{strings.TrimSpace(name), strings.TrimSpace(template)}
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if list = append(list, t); len(list) > maxTargets {
			return nil, fmt.Errorf("more than %d services are listed", maxTargets)
		}
	}
	return list, nil
}

// check returns an error unless the template is an address on a fixed host, to which an item is sent by http or https.
func (t Target) check() error {
	u, err := url.Parse(strings.NewReplacer(urlPlace, "", titlePlace, "").Replace(t.Template))
	switch {
	case t.Name == "" || len(t.Name) > maxName:
		return fmt.Errorf("give a name of at most %d bytes, then | and the address", maxName)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil:
		return errors.New("the address must begin with https:// or http:// and a host, without a password")
	case !strings.Contains(t.Template, urlPlace):
		return errors.New("the address must contain {url}")
	}
	// A placeholder within the host would send the item to the host that its publisher chose.
	if host, _, _ := strings.Cut(t.Template[strings.Index(t.Template, "//")+2:], "/"); strings.ContainsAny(host, "{}?#") {
		return errors.New("the placeholders must follow the host and a slash")
	}
	return nil
}

// Format returns the text from which [Parse] makes the services.
func Format(list []Target) string {
	var b strings.Builder
	for _, t := range list {
		fmt.Fprintf(&b, "%s|%s\n", t.Name, t.Template)
	}
	return b.String()
}

// Of returns the services that the browser keeps; none if it keeps none, or an invalid list.
func Of(r *http.Request) []Target {
	c, err := r.Cookie(cookie)
	if err != nil {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return nil
	}
	list, err := Parse(string(text))
	if err != nil {
		return nil
	}
	return list
}

// Set makes the browser keep the services for a year, or none if the list is empty.
func Set(w http.ResponseWriter, list []Target) {
	c := &http.Cookie{
		Name: cookie, Value: base64.RawURLEncoding.EncodeToString([]byte(Format(list))), Path: "/", MaxAge: 365 * 24 * 60 * 60,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if len(list) == 0 {
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(w, c)
}

// Links returns the links that send an item to services: by mail first.
func Links(list []Target, title, address string) []Link {
	place := strings.NewReplacer(urlPlace, escape(address), titlePlace, escape(title))
	links := []Link{{locale.T("Mail"), "mailto:?subject=" + escape(title) + "&body=" + escape(address)}}
	for _, t := range list {
		links = append(links, Link{locale.Data(t.Name), place.Replace(t.Template)})
	}
	return links
}

// escape escapes a value of a query. Mail programs do not decode + as a space.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

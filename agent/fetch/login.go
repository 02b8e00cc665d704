package fetch

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// headSize is how much of a page is looked at, in bytes.
const headSize = 64 << 10

// page returns an [*Error] if a new document is a web page that stands in a
// feed's place: a bot wall; a login page that the feed's address leads to; or
// one where there was a feed before. Other web pages are documents like any.
func (t *try) page(r *http.Response, body []byte) error {
	if kind := r.Header.Get("Content-Type"); kind != "" && !strings.Contains(strings.ToLower(kind), "html") {
		return nil
	}
	head := unpackHead(body)
	if !isPage(head) {
		return nil
	}
	if e := t.obstacle(r, head); e != nil {
		return e
	}
	host := r.Request.URL.Hostname()
	switch {
	case t.hops.to != "" && loginPath.MatchString(r.Request.URL.Path):
		return &Error{Class: ClassLogin, Status: r.StatusCode, Err: fmt.Errorf("the feed's address leads to the login page of %s", host)}
	case t.request.BodyHash != "" && passwordInput.Match(head):
		return &Error{Class: ClassLogin, Status: r.StatusCode, Err: fmt.Errorf("%s shows a login page instead of the feed", host)}
	}
	return nil
}

var (
	// loginPath matches paths as /login, /users/sign_in, /wp-login.php and /accounts/login/.
	loginPath     = regexp.MustCompile(`(?i)(^|[/_.-])(log[_-]?in|sign[_-]?in|log[_-]?on|sso)(\.[a-z]{2,5})?/?$`)
	passwordInput = regexp.MustCompile(`(?i)<input\s[^>]*\btype\s*=\s*["']?password\b`)
	pageRoot      = regexp.MustCompile(`(?i)<!doctype\s+html|<html[\s>]`)
	feedRoot      = regexp.MustCompile(`(?i)<(rss|feed|rdf:rdf)[\s>]`)
)

// isPage reports whether a document that begins so is a web page. A feed that
// has one inside is none.
func isPage(head []byte) bool {
	head = head[:min(len(head), 4<<10)]
	at := pageRoot.FindIndex(head)
	return at != nil && !feedRoot.Match(head[:at[0]]) && !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{"))
}

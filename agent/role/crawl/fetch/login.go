package fetch

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// checkPage returns an [*Error] if the new document is a web page in place of the feed: a bot block, a login
// page that the feed's URL redirects to, or a login page at a URL that returned a document before. Other web
// pages are ordinary documents.
func (t *attempt) checkPage(r *http.Response, body []byte) error {
	if kind := r.Header.Get("Content-Type"); kind != "" && !strings.Contains(strings.ToLower(kind), "html") {
		return nil
	}
	head := decompressHead(body)
	if !isWebPage(head) {
		return nil
	}
	if e := t.accessError(r, head); e != nil {
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
	// loginPath matches paths such as /login, /users/sign_in, /wp-login.php and /accounts/login/.
	loginPath     = regexp.MustCompile(`(?i)(^|[/_.-])(log[_-]?in|sign[_-]?in|log[_-]?on|sso)(\.[a-z]{2,5})?/?$`)
	passwordInput = regexp.MustCompile(`(?i)<input\s[^>]*\btype\s*=\s*["']?password\b`)
	pageRoot      = regexp.MustCompile(`(?i)<!doctype\s+html|<html[\s>]`)
	feedRoot      = regexp.MustCompile(`(?i)<(rss|feed|rdf:rdf)[\s>]`)
)

// isWebPage reports whether a document with these first bytes is a web page. A feed that contains HTML is
// not.
func isWebPage(head []byte) bool {
	head = head[:min(len(head), 4<<10)]
	at := pageRoot.FindIndex(head)
	return at != nil && !feedRoot.Match(head[:at[0]]) && !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{"))
}

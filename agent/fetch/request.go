package fetch

import (
	"bytes"
	"net/http"
	"net/url"
	"time"
)

// A Request is what to fetch, how, and the validators of the document we have
// of it: they are sent back exactly as the server gave them.
type Request struct {
	URL          string
	ETag         string
	LastModified string
	BodyHash     string
	UserAgent    string            // in place of the client's; "" is the client's
	Header       map[string]string // beside ours, for the URL's own host only; see [CheckHeader]
	User         string            // for basic authentication by the URL's own host only; "" is none
	Password     string
	Ways         []string // proxies to try in order, as [CheckProxy] takes them, at most 4; "" is the direct way, and so is none at all

	Last bool // the host is not asked again soon: the connection is closed, not kept open for it

	Plain *bytes.Buffer // has the document as it is inside when it was fetched, but is empty if that is unchanged, or larger than [MaxPlain]; nil: nobody wants it

	Answered func(r *http.Response) // is told of each answer, those that redirect too, before its body is read; nil: nobody is

	Follow func(to *url.URL) error // asked before each redirect; what it returns ends the fetch; nil follows all
}

// A Document is what was fetched.
type Document struct {
	URL          string   // it came from, after redirects
	Moved        string   // where permanent redirects led, if all of them were; else ""
	Way          string   // that of the request's Ways it came by; it may have a password in it
	Dead         []string // those of the request's Ways that were tried before, and whose proxy could not be used
	Status       int
	ETag         string
	LastModified string
	ContentType  string
	BodyHash     string        // of the decompressed body; that of the request after 304
	Unchanged    bool          // 304, or a body with the request's hash
	Body         []byte        // in gzip; nil if unchanged
	Size         int64         // of the body, decompressed
	Took         time.Duration // from asking by this way to the end of the answer
	MaxAge       time.Duration // how long the server says it stays as it is; 0 if it does not say
	Hub          string        // WebSub hub that the answer's Link header names, absolute; "" if none
	Self         string        // topic that it names, likewise
}

package fetch

import (
	"bytes"
	"net/http"
	"net/url"
	"time"
)

// A Request describes a document to fetch, the routes to try, and the validators of the stored version, which
// are sent back exactly as the server returned them.
type Request struct {
	URL          string
	ETag         string
	LastModified string
	BodyHash     string
	UserAgent    string            // replaces the client's user agent unless empty
	Header       map[string]string // additional headers, for the URL's own host only; see [CheckHeader]
	User         string            // of basic authentication, for the URL's own host only; "" disables it
	Password     string
	Routes       []string // proxies to try in order, valid for [CheckProxy], at most 4; "" is a direct connection, and so is an empty list

	Close bool // closes the connection after the response because no further request to the host is due soon

	Buffer *bytes.Buffer // receives the decompressed document unless it is unchanged or larger than [MaxBuffered], then it is left empty; may be nil

	OnResponse func(r *http.Response) // called with each response, redirects included, before its body is read; may be nil

	CheckRedirect func(to *url.URL) error // called before each redirect; an error ends the fetch; may be nil
}

// A Document is the result of a successful fetch.
type Document struct {
	URL           string   // final URL, after redirects
	Moved         string   // target of the redirects if all were permanent; else ""
	Route         string   // the request's route that succeeded; it may contain a password
	FailedProxies []string // routes tried before whose proxy was unusable
	Status        int
	ETag          string
	LastModified  string
	ContentType   string
	BodyHash      string        // of the decompressed body; the request's after 304
	Unchanged     bool          // 304, or a body with the request's hash
	Body          []byte        // as gzip; nil if unchanged
	Size          int64         // of the decompressed body, in bytes
	Took          time.Duration // from the start of this route to the end of the response
	MaxAge        time.Duration // freshness lifetime that the server states; 0 if none
	Hub           string        // absolute URL of the WebSub hub in the Link header; "" if none
	Self          string        // absolute URL of the WebSub topic in the Link header; "" if none
}

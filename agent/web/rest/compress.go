package rest

import (
	"fmt"
	"net/http"

	"github.com/klauspost/compress/gzhttp"
)

const (
	minCompressed = 1 << 10 // shortest response that is compressed, in bytes

	// lengthJitter is how many bytes the length of a compressed response varies by, so that an attacker whose words are
	// in it can't measure what else is (BREACH).
	lengthJitter = 32
)

// compressedTypes are the media types of texts. Events are no text here: each is sent at once.
var compressedTypes = []string{
	"text/html", "text/css", "text/javascript", "text/plain", "text/csv", "text/x-opml", "image/svg+xml", "application/manifest+json",
	"application/json", "application/openapi+json", "application/problem+json", "application/feed+json", "application/rss+xml", "application/atom+xml", "application/xml",
}

// compressed compresses the texts that next answers with gzip, for clients that accept it.
func compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.ContentTypes(compressedTypes), gzhttp.EnableZstd(false), gzhttp.RandomJitter(lengthJitter, 0, false))
	if err != nil {
		panic(fmt.Sprintf("invalid settings of the compression: %v", err)) // they are constants
	}
	return wrap(next)
}

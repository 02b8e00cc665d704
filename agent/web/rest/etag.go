package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// maxETagBody is the maximum length of a response that gets an ETag, in bytes, since it is buffered whole.
const maxETagBody = 1 << 20

// withETag adds an ETag to API responses without one, and answers 304 on If-None-Match. Streams and long
// bodies pass through.
//
// Source: RFC 9110, 8.8.3 and 13.1.2.
func withETag(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead || !strings.HasPrefix(r.URL.Path, "/api/") {
			next.ServeHTTP(w, r)
			return
		}
		// Caches of proxies may not store it; the client's cache must revalidate it.
		w.Header().Set("Cache-Control", "private, no-cache")
		t := &etagWriter{ResponseWriter: w}
		next.ServeHTTP(t, r)
		t.finish(r.Header.Values("If-None-Match"))
	})
}

// An etagWriter buffers a response until it is complete or too long.
type etagWriter struct {
	http.ResponseWriter
	buffer     bytes.Buffer
	status     int  // 0 until written
	unbuffered bool // writes pass through
}

func (t *etagWriter) WriteHeader(status int) {
	switch {
	case t.status != 0 && status >= 200:
		return
	case status < 200:
		t.ResponseWriter.WriteHeader(status)
		return
	}
	t.status = status
	if status != http.StatusOK || strings.HasPrefix(t.Header().Get("Content-Type"), "text/event-stream") {
		t.flushBuffer()
	}
}

func (t *etagWriter) Write(b []byte) (int, error) {
	t.WriteHeader(http.StatusOK)
	if !t.unbuffered && t.buffer.Len()+len(b) > maxETagBody {
		if err := t.flushBuffer(); err != nil {
			return 0, err
		}
	}
	if t.unbuffered {
		return t.ResponseWriter.Write(b)
	}
	return t.buffer.Write(b)
}

// FlushError is for [http.ResponseController]: a flushed response can't be buffered.
func (t *etagWriter) FlushError() error {
	t.WriteHeader(http.StatusOK)
	if err := t.flushBuffer(); err != nil {
		return err
	}
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// Unwrap is for [http.ResponseController].
func (t *etagWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// flushBuffer writes the buffer; later writes pass through.
func (t *etagWriter) flushBuffer() error {
	if t.unbuffered {
		return nil
	}
	t.unbuffered = true
	t.ResponseWriter.WriteHeader(t.status)
	if t.buffer.Len() == 0 {
		return nil
	}
	_, err := t.buffer.WriteTo(t.ResponseWriter)
	return err
}

// finish sends a buffered response, or 304.
func (t *etagWriter) finish(ifNoneMatch []string) {
	if t.unbuffered || t.status == 0 {
		return
	}
	header := t.Header()
	if header.Get("ETag") == "" {
		sum := sha256.Sum256(t.buffer.Bytes())
		header.Set("ETag", `W/"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	}
	if matchesETag(header.Get("ETag"), ifNoneMatch) {
		header.Del("Content-Type")
		header.Del("Content-Length")
		t.buffer.Reset()
		t.status = http.StatusNotModified
	}
	// On an error the client has disconnected.
	_ = t.flushBuffer()
}

// matchesETag reports whether If-None-Match contains a tag.
func matchesETag(tag string, ifNoneMatch []string) bool {
	for _, list := range ifNoneMatch {
		for one := range strings.SplitSeq(list, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

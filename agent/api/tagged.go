package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// maxTagged is the longest answer that gets a tag, in bytes: it is held whole to
// make one of it.
const maxTagged = 1 << 20

// tagged gives answers of the API an ETag, unless they have one, and answers 304
// where the client has that answer already. Streams and what is long pass.
//
// Source: RFC 9110, 8.8.3 and 13.1.2.
func tagged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead || !strings.HasPrefix(r.URL.Path, "/api/") {
			next.ServeHTTP(w, r)
			return
		}
		// It is the client's own, and may be kept if it is asked for again.
		w.Header().Set("Cache-Control", "private, no-cache")
		t := &tagger{ResponseWriter: w}
		next.ServeHTTP(t, r)
		t.finish(r.Header.Values("If-None-Match"))
	})
}

// A tagger holds an answer until it is whole, or too long to be held.
type tagger struct {
	http.ResponseWriter
	held   bytes.Buffer
	status int  // 0 until it is known
	passes bool // nothing is held any more
}

// WriteHeader implements [http.ResponseWriter].
func (t *tagger) WriteHeader(status int) {
	switch {
	case t.status != 0 && status >= 200:
		return
	case status < 200:
		t.ResponseWriter.WriteHeader(status)
		return
	}
	t.status = status
	if status != http.StatusOK || strings.HasPrefix(t.Header().Get("Content-Type"), "text/event-stream") {
		t.pass()
	}
}

// Write implements [http.ResponseWriter].
func (t *tagger) Write(b []byte) (int, error) {
	t.WriteHeader(http.StatusOK)
	if !t.passes && t.held.Len()+len(b) > maxTagged {
		if err := t.pass(); err != nil {
			return 0, err
		}
	}
	if t.passes {
		return t.ResponseWriter.Write(b)
	}
	return t.held.Write(b)
}

// FlushError is for [http.ResponseController]: what is flushed can't be held.
func (t *tagger) FlushError() error {
	t.WriteHeader(http.StatusOK)
	if err := t.pass(); err != nil {
		return err
	}
	return http.NewResponseController(t.ResponseWriter).Flush()
}

// Unwrap is for [http.ResponseController].
func (t *tagger) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// pass sends what is held, and all that follows.
func (t *tagger) pass() error {
	if t.passes {
		return nil
	}
	t.passes = true
	t.ResponseWriter.WriteHeader(t.status)
	if t.held.Len() == 0 {
		return nil
	}
	_, err := t.held.WriteTo(t.ResponseWriter)
	return err
}

// finish sends a whole answer, or that the client has it.
func (t *tagger) finish(known []string) {
	if t.passes || t.status == 0 {
		return
	}
	header := t.Header()
	if header.Get("ETag") == "" {
		sum := sha256.Sum256(t.held.Bytes())
		header.Set("ETag", `W/"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	}
	if isKnown(header.Get("ETag"), known) {
		header.Del("Content-Type")
		header.Del("Content-Length")
		t.held.Reset()
		t.status = http.StatusNotModified
	}
	// An error says that the client has gone.
	_ = t.pass()
}

// isKnown reports whether a tag is among those that a client says it has.
func isKnown(tag string, known []string) bool {
	for _, list := range known {
		for one := range strings.SplitSeq(list, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}

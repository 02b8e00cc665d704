package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service"
	"feedmesh/agent/web/problem"
	"feedmesh/storage"
)

// An IdempotencyStore stores responses for as long as a client may retry, as [mesh.Responses] does.
type IdempotencyStore interface {
	Claim(ctx context.Context, key string, value []byte) (kept []byte, revision uint64, err error)
	Replace(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	Quarantine(ctx context.Context, key string, revision uint64, value []byte, cause error) error
	Delete(ctx context.Context, key string, revision uint64) error
}

const (
	maxStoredBody     = 256 << 10        // bytes of a response's body; of a longer body only the status is stored
	maxIdempotencyKey = 255              // bytes of an Idempotency-Key
	claimTimeout      = 15 * time.Minute // after this the process with the claim counts as exited
	storeTimeout      = 5 * time.Second  // timeout of storing a response
)

// A storedResponse is the value of an Idempotency-Key: a claim of a running request, or its response.
type storedResponse struct {
	Until    time.Time `json:"until,omitzero"` // end of the claim of a running request
	Request  []byte    `json:"request,omitempty"`
	Status   int       `json:"status,omitempty"`
	Type     string    `json:"type,omitempty"` // Content-Type
	Location string    `json:"location,omitempty"`
	Body     []byte    `json:"body,omitempty"`
}

// idempotent makes POST requests with an Idempotency-Key idempotent: a repeated request gets the stored
// response. Keys are separate for each client.
//
// Source: draft-ietf-httpapi-idempotency-key-header-06.
func idempotent(responses IdempotencyStore, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		named := r.Header.Get("Idempotency-Key")
		if named == "" || r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/api/") {
			next.ServeHTTP(w, r)
			return
		}
		if err := serveIdempotent(responses, w, r, next, named); err != nil {
			denied := &denial{status: http.StatusServiceUnavailable, detail: err.Error()}
			errors.As(err, &denied)
			denied.ServeHTTP(w, r)
		}
	})
}

// Error implements error, so that a denial can be returned as one.
func (d *denial) Error() string { return d.detail }

// serveIdempotent answers the request, or returns an error, which may be a [*denial].
func serveIdempotent(responses IdempotencyStore, w http.ResponseWriter, r *http.Request, next http.Handler, named string) error {
	named = strings.Trim(named, `"`)
	if named == "" || len(named) > maxIdempotencyKey {
		return &denial{status: http.StatusBadRequest, detail: fmt.Sprintf("the Idempotency-Key must have 1 to %d bytes, as \"8e03978e-40d5-43dd-bc93-6894a57f9324\"", maxIdempotencyKey)}
	}
	if responses == nil {
		return errors.New("this node can't store responses: retry without an Idempotency-Key")
	}
	c := claim{responses: responses, key: idempotencyKey(access.From(r.Context()), named)}
	kept, err := c.acquire(r.Context())
	switch {
	case err != nil:
		return fmt.Errorf("keep the answer: %w", err)
	case kept == nil:
		return c.run(w, r, next)
	case kept.Request == nil:
		return &denial{status: http.StatusConflict, detail: "the request with this Idempotency-Key is in progress: retry in a moment",
			header: http.Header{"Retry-After": {"1"}}}
	}
	return kept.replay(w, r)
}

// idempotencyKey returns the key of a client's response in the store. It contains only characters that
// subjects may contain.
func idempotencyKey(c access.Client, named string) string {
	sum := sha256.Sum256([]byte(c.ID + "\x00" + named))
	return base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
}

// A claim is the exclusive right to run a request.
type claim struct {
	responses IdempotencyStore
	key       string
	revision  uint64
}

// acquire takes the claim, or returns the stored value of an earlier request.
func (c *claim) acquire(ctx context.Context) (*storedResponse, error) {
	value, err := json.Marshal(storedResponse{Until: time.Now().Add(claimTimeout)})
	if err != nil {
		return nil, err
	}
	old, revision, err := c.responses.Claim(ctx, c.key, value)
	c.revision = revision
	if err != nil || old == nil {
		return nil, err
	}
	var kept storedResponse
	if unreadable := json.Unmarshal(old, &kept); unreadable != nil { // the request runs, as if it came first
		if err := c.responses.Quarantine(ctx, c.key, revision, old, unreadable); err != nil {
			return nil, err
		}
		kept = storedResponse{}
	}
	if kept.Request != nil || time.Now().Before(kept.Until) {
		return &kept, nil
	}
	// The process with the claim exited.
	c.revision, err = c.responses.Replace(ctx, c.key, value, revision)
	if errors.Is(err, storage.ErrConflict) {
		return &kept, nil // another process took over first
	}
	return nil, err
}

// run serves the request and stores its response. A temporary failure is not stored, so that a retry runs
// again.
func (c *claim) run(w http.ResponseWriter, r *http.Request, next http.Handler) error {
	sum := hashOf(r)
	body := &hashingBody{body: r.Body, hash: sum}
	r.Body = body
	a := &recorder{ResponseWriter: w, status: http.StatusOK}
	done := false
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), storeTimeout)
		defer cancel()
		if done {
			done = c.store(ctx, a.response(sum)) == nil
		}
		if !done {
			// If this fails too, the claim expires.
			_ = c.responses.Delete(ctx, c.key, c.revision)
		}
	}()
	next.ServeHTTP(a, r)
	done = a.isFinal() && body.drain()
	return nil
}

// store replaces the claim with a response.
func (c *claim) store(ctx context.Context, a storedResponse) error {
	value, err := json.Marshal(a)
	if err != nil {
		return err
	}
	c.revision, err = c.responses.Replace(ctx, c.key, value, c.revision)
	return err
}

// replay sends the stored response if the request is the same.
func (a *storedResponse) replay(w http.ResponseWriter, r *http.Request) error {
	sum := hashOf(r)
	// Test writers do not support deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(sum, io.LimitReader(r.Body, service.MaxImport+1)); err != nil {
		return &denial{status: http.StatusBadRequest, detail: "the body can't be read: " + err.Error()}
	}
	if !bytes.Equal(sum.Sum(nil), a.Request) {
		return &denial{status: http.StatusUnprocessableEntity, detail: "this Idempotency-Key was used for another request: each needs its own"}
	}
	header := w.Header()
	header.Set("Idempotent-Replayed", "true")
	for name, value := range map[string]string{"Content-Type": a.Type, "Location": a.Location} {
		if value != "" {
			header.Set(name, value)
		}
	}
	w.WriteHeader(a.Status)
	// On an error the client has disconnected.
	_, _ = w.Write(a.Body)
	return nil
}

// hashOf returns a hash of a request without its body, which the caller adds.
func hashOf(r *http.Request) hash.Hash {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q\n", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"))
	return sum
}

// A hashingBody adds the bytes read from a body to a hash.
type hashingBody struct {
	body io.Reader
	hash hash.Hash
}

// Close implements [io.Closer]. The rest is still read for the hash; the HTTP server closes the body.
func (*hashingBody) Close() error { return nil }

func (b *hashingBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.hash.Write(p[:n])
	return n, err
}

// drain reads the rest of the body, and reports whether that reached the end.
func (b *hashingBody) drain() bool {
	n, err := io.Copy(io.Discard, io.LimitReader(b, maxStoredBody+1))
	return err == nil && n <= maxStoredBody
}

// A recorder forwards a response and buffers a copy of it.
type recorder struct {
	http.ResponseWriter
	status      int  // 200 by default
	wroteHeader bool // the status is written
	body        bytes.Buffer
	tooLong     bool // the body is too long to be stored
}

func (a *recorder) WriteHeader(status int) {
	if !a.wroteHeader && status >= 200 {
		a.status, a.wroteHeader = status, true
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *recorder) Write(b []byte) (int, error) {
	a.wroteHeader = true
	if a.tooLong = a.tooLong || a.body.Len()+len(b) > maxStoredBody; !a.tooLong {
		a.body.Write(b)
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (a *recorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// isFinal reports whether a retry would get the same response.
func (a *recorder) isFinal() bool {
	switch a.status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, problem.StatusGone:
		return false
	}
	return a.status >= 200 && a.status < 500
}

// response returns the response to store, without bodies that contain a secret.
func (a *recorder) response(request hash.Hash) storedResponse {
	header := a.Header()
	kept := storedResponse{Request: request.Sum(nil), Status: a.status, Location: header.Get("Location")}
	if !a.tooLong && header.Get("Cache-Control") != "no-store" {
		kept.Type, kept.Body = header.Get("Content-Type"), a.body.Bytes()
	}
	return kept
}

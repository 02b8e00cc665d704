package api

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
	"feedmesh/storage"
)

// Answers keep what was answered for as long as a client may ask again, as
// [mesh.Answers] do.
type Answers interface {
	Claim(ctx context.Context, key string, value []byte) (kept []byte, revision uint64, err error)
	Replace(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	Drop(ctx context.Context, key string, revision uint64) error
}

const (
	maxKept    = 256 << 10        // bytes of an answer's body; of a longer one the status alone is kept
	maxOnceKey = 255              // bytes of an Idempotency-Key
	claimTime  = 15 * time.Minute // after which who claimed a key counts as dead
	keepTime   = 5 * time.Second  // that the mesh gets to keep an answer
)

// A keptAnswer is what is kept under an Idempotency-Key.
type keptAnswer struct {
	Until    time.Time `json:"until,omitzero"` // under way until then, at most
	Request  []byte    `json:"request,omitempty"`
	Status   int       `json:"status,omitempty"`
	Type     string    `json:"type,omitempty"` // Content-Type
	Location string    `json:"location,omitempty"`
	Body     []byte    `json:"body,omitempty"`
}

// once has a POST to the API that names itself by an Idempotency-Key done once:
// when it comes again it gets the answer it got. Each client has keys of its own.
//
// Source: draft-ietf-httpapi-idempotency-key-header-06.
func (s *Server) once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		named := r.Header.Get("Idempotency-Key")
		if named == "" || r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/api/") {
			next.ServeHTTP(w, r)
			return
		}
		if err := s.doOnce(w, r, next, named); err != nil {
			refusal := &denial{status: http.StatusServiceUnavailable, why: err.Error()}
			errors.As(err, &refusal)
			refusal.ServeHTTP(w, r)
		}
	})
}

// Error has a denial be an error.
func (d *denial) Error() string { return d.why }

// doOnce answers, or returns why it can't, which may be a [*denial].
func (s *Server) doOnce(w http.ResponseWriter, r *http.Request, next http.Handler, named string) error {
	named = strings.Trim(named, `"`)
	if named == "" || len(named) > maxOnceKey {
		return &denial{status: http.StatusBadRequest, why: fmt.Sprintf("the Idempotency-Key must have 1 to %d bytes, as \"8e03978e-40d5-43dd-bc93-6894a57f9324\"", maxOnceKey)}
	}
	if s.Answers == nil {
		return errors.New("this node can't keep answers: ask without an Idempotency-Key")
	}
	c := claim{answers: s.Answers, key: onceKey(access.From(r.Context()), named)}
	kept, err := c.take(r.Context())
	switch {
	case err != nil:
		return fmt.Errorf("keep the answer: %w", err)
	case kept == nil:
		return c.do(w, r, next)
	case kept.Request == nil:
		return &denial{status: http.StatusConflict, why: "the request with this Idempotency-Key is under way: ask again in a moment",
			header: http.Header{"Retry-After": {"1"}}}
	}
	return kept.replay(w, r)
}

// onceKey returns the key under which the answer to a client's key is kept. It
// has nothing in it that a subject may not have.
func onceKey(c access.Client, named string) string {
	sum := sha256.Sum256([]byte(c.ID + "\x00" + named))
	return base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
}

// A claim is one client's to do a request.
type claim struct {
	answers  Answers
	key      string
	revision uint64
}

// take takes the claim; or returns what is kept of who took it before.
func (c *claim) take(ctx context.Context) (*keptAnswer, error) {
	value, err := json.Marshal(keptAnswer{Until: time.Now().Add(claimTime)})
	if err != nil {
		return nil, err
	}
	old, revision, err := c.answers.Claim(ctx, c.key, value)
	c.revision = revision
	if err != nil || old == nil {
		return nil, err
	}
	var kept keptAnswer
	if err := json.Unmarshal(old, &kept); err != nil {
		return nil, err
	}
	if kept.Request != nil || time.Now().Before(kept.Until) {
		return &kept, nil
	}
	// Who claimed it is dead.
	c.revision, err = c.answers.Replace(ctx, c.key, value, revision)
	if errors.Is(err, storage.ErrConflict) {
		return &kept, nil // another was faster
	}
	return nil, err
}

// do does the request and keeps its answer. What fails for a while is not kept:
// asked again it may be done.
func (c *claim) do(w http.ResponseWriter, r *http.Request, next http.Handler) error {
	sum := hashOf(r)
	body := &hashed{body: r.Body, hash: sum}
	r.Body = body
	a := &recorder{ResponseWriter: w, status: http.StatusOK}
	done := false
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), keepTime)
		defer cancel()
		if done {
			done = c.keep(ctx, a.answer(sum)) == nil
		}
		if !done {
			// If that fails too, the claim ends by itself.
			_ = c.answers.Drop(ctx, c.key, c.revision)
		}
	}()
	next.ServeHTTP(a, r)
	done = a.isFinal() && body.rest()
	return nil
}

// keep keeps an answer in place of the claim.
func (c *claim) keep(ctx context.Context, a keptAnswer) error {
	value, err := json.Marshal(a)
	if err != nil {
		return err
	}
	c.revision, err = c.answers.Replace(ctx, c.key, value, c.revision)
	return err
}

// replay answers as the same request was answered before.
func (a *keptAnswer) replay(w http.ResponseWriter, r *http.Request) error {
	sum := hashOf(r)
	// Some writers, of tests, can't; then there is nothing to bound.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(sum, io.LimitReader(r.Body, maxImport+1)); err != nil {
		return &denial{status: http.StatusBadRequest, why: "the body can't be read: " + err.Error()}
	}
	if !bytes.Equal(sum.Sum(nil), a.Request) {
		return &denial{status: http.StatusUnprocessableEntity, why: "this Idempotency-Key was used for another request: each needs its own"}
	}
	header := w.Header()
	header.Set("Idempotent-Replayed", "true")
	for name, value := range map[string]string{"Content-Type": a.Type, "Location": a.Location} {
		if value != "" {
			header.Set(name, value)
		}
	}
	w.WriteHeader(a.Status)
	// An error says that the client has gone.
	_, _ = w.Write(a.Body)
	return nil
}

// hashOf returns a hash of what a request asks, to which its body is to be added.
func hashOf(r *http.Request) hash.Hash {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q\n", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"))
	return sum
}

// A hashed body adds what is read of it to a hash.
type hashed struct {
	body io.Reader
	hash hash.Hash
}

// Close implements [io.Closer]. There may be more to read for the hash; who
// serves the request closes the body itself.
func (*hashed) Close() error { return nil }

// Read implements [io.Reader].
func (b *hashed) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.hash.Write(p[:n])
	return n, err
}

// rest reads what nobody has read, and reports whether that is all of it.
func (b *hashed) rest() bool {
	n, err := io.Copy(io.Discard, io.LimitReader(b, maxKept+1))
	return err == nil && n <= maxKept
}

// A recorder passes an answer on and remembers it.
type recorder struct {
	http.ResponseWriter
	status int  // 200 unless another is written
	said   bool // the status is written
	body   bytes.Buffer
	long   bool // the body is too long to be kept
}

// WriteHeader implements [http.ResponseWriter].
func (a *recorder) WriteHeader(status int) {
	if !a.said && status >= 200 {
		a.status, a.said = status, true
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (a *recorder) Write(b []byte) (int, error) {
	a.said = true
	if a.long = a.long || a.body.Len()+len(b) > maxKept; !a.long {
		a.body.Write(b)
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (a *recorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// isFinal reports whether the same request would get the same answer again.
func (a *recorder) isFinal() bool {
	switch a.status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, statusGone:
		return false
	}
	return a.status >= 200 && a.status < 500
}

// answer returns what is to be kept. A secret that is shown once is not.
func (a *recorder) answer(request hash.Hash) keptAnswer {
	header := a.Header()
	kept := keptAnswer{Request: request.Sum(nil), Status: a.status, Location: header.Get("Location")}
	if !a.long && header.Get("Cache-Control") != "no-store" {
		kept.Type, kept.Body = header.Get("Content-Type"), a.body.Bytes()
	}
	return kept
}

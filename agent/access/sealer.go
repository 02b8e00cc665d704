package access

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"feedmesh/storage"
)

// ErrExpired reports a login whose state is missing, was used, or is older than [LoginTimeout].
var ErrExpired = errors.New("the login took too long, or was finished already: begin again")

// LoginTimeout is the timeout of a login of several requests.
const LoginTimeout = 5 * time.Minute

// A Sealer stores the state of an unfinished login in a cookie of the browser, sealed by a key that all agents of a mesh
// share as a note of their store. So each agent can finish a login that another began, and no number of logins that are
// begun takes memory or records. The methods may be called concurrently.
type Sealer struct {
	store storage.Records

	mu     sync.Mutex
	cipher cipher.AEAD // nil: not read yet
}

// NewSealer returns a sealer with the key of a store, which is made and read when it is needed.
func NewSealer(store storage.Records) *Sealer { return &Sealer{store: store} }

// sealerNote is the name of the note with the key, of sealerKeySize bytes.
const (
	sealerNote    = "login key"
	sealerKeySize = 32
)

func (s *Sealer) open(ctx context.Context) (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cipher != nil {
		return s.cipher, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout) // other requests wait for the same read
	defer cancel()
	key := make([]byte, sealerKeySize)
	rand.Read(key) // never fails
	key, err := storage.Notes(s.store).First(ctx, sealerNote, key)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	s.cipher, err = cipher.NewGCMWithRandomNonce(block)
	return s.cipher, err
}

// A sealedState is the content of a cookie.
type sealedState struct {
	Issued int64 // Unix time in microseconds, the precision of the store
	State  json.RawMessage
}

// Set stores the state of a login of a kind, which must fit into a cookie of 4 KB.
func (s *Sealer) Set(w http.ResponseWriter, r *http.Request, kind string, state any) error {
	aead, err := s.open(r.Context())
	if err != nil {
		return err
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	text, err = json.Marshal(sealedState{time.Now().UnixMicro(), text})
	if err != nil {
		return err
	}
	value := base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, text, []byte(kind)))
	http.SetCookie(w, newCookie(r, "-"+kind, value, int(LoginTimeout/time.Second)))
	return nil
}

// Take reads the state of a login of a kind, deletes its cookie, and returns when it was stored. The error may be
// [ErrExpired].
func (s *Sealer) Take(w http.ResponseWriter, r *http.Request, kind string, state any) (time.Time, error) {
	aead, err := s.open(r.Context())
	if err != nil {
		return time.Time{}, err
	}
	empty := newCookie(r, "-"+kind, "", 0)
	http.SetCookie(w, empty)
	c, err := r.Cookie(empty.Name)
	if err != nil {
		return time.Time{}, ErrExpired
	}
	sealed, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return time.Time{}, ErrExpired
	}
	text, err := aead.Open(nil, nil, sealed, []byte(kind))
	if err != nil {
		return time.Time{}, ErrExpired
	}
	var content sealedState
	if err := json.Unmarshal(text, &content); err != nil {
		return time.Time{}, ErrExpired
	}
	issued := time.UnixMicro(content.Issued)
	if time.Since(issued) >= LoginTimeout || json.Unmarshal(content.State, state) != nil {
		return time.Time{}, ErrExpired
	}
	return issued, nil
}

package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/storage"
)

// ErrInvalidToken reports a secret that belongs to no token.
var ErrInvalidToken = errors.New("the token is wrong, or was removed")

// Ages of the cache of the store's tokens. A token that was removed elsewhere is accepted for at most
// maxStale.
const (
	refreshAfter = 5 * time.Second  // age at which the cache is read from the store again
	minReload    = time.Second      // minimum interval of reads
	maxStale     = 10 * time.Second // age at which the cache accepts no token any more
)

const (
	storeTimeout = 3 * time.Second // timeout of one read of the store
	usedInterval = time.Minute     // interval of updates of a token's last use
)

// A TokenStore checks the tokens of the settings and those of a store, which it caches in memory, and limits wrong
// guesses. Its methods may be called concurrently.
type TokenStore struct {
	tokens   storage.Records
	settings []setting
	guesses  *guesses

	mu      sync.Mutex
	cache   map[string]storage.Token // by hash
	read    time.Time                // last successful read
	queried time.Time
	err     error // of the last read
}

// A setting is the client of a token of the settings.
type setting struct {
	hash   [sha256.Size]byte
	client Client
}

// NewTokenStore returns a token store for the tokens of a store, which may be nil, the owner's token, and the token
// of health checks, unless these are empty.
func NewTokenStore(tokens storage.Records, ownerToken, healthToken string) *TokenStore {
	k := &TokenStore{tokens: tokens, guesses: newGuesses()}
	for _, s := range []struct {
		secret string
		client Client
	}{{ownerToken, owner}, {healthToken, health}} {
		if s.secret != "" {
			k.settings = append(k.settings, setting{sha256.Sum256([]byte(s.secret)), s.client})
		}
	}
	return k
}

// Authenticate is [TokenStore.Check] for a client at an address, which it makes wait while too many wrong secrets
// come from there or from all addresses together. A right secret is always accepted. The error may also be a
// [*GuessError]. limited reports that the address has reached its limit with this secret.
func (k *TokenStore) Authenticate(ctx context.Context, secret, address string) (c Client, limited bool, err error) {
	if err := k.guesses.delay(ctx, secret, address); err != nil {
		return Client{}, false, err
	}
	if c, err = k.Check(ctx, secret); errors.Is(err, ErrInvalidToken) {
		limited, err = k.guesses.wrong(address)
	}
	return c, limited, err
}

// Check returns the client of a secret, or [ErrInvalidToken]. Any other error reports that the store can't be
// read. The time it takes reveals nothing about other secrets: only hashes are compared, and clients can't
// choose hashes.
func (k *TokenStore) Check(ctx context.Context, secret string) (Client, error) {
	shown := sha256.Sum256([]byte(secret))
	for _, s := range k.settings {
		if subtle.ConstantTimeCompare(shown[:], s.hash[:]) == 1 {
			return s.client, nil
		}
	}
	if k.tokens == nil || !IsGenerated(secret) {
		return Client{}, ErrInvalidToken
	}
	token, use, err := k.find(ctx, Hash(secret))
	if err != nil {
		return Client{}, err
	}
	if use {
		// The last use is informational; an error must not reject the client.
		_ = storage.Tokens(k.tokens).Use(ctx, token.ID, token.Used)
	}
	return clientOf(token), nil
}

// clientOf returns the client of a token.
func clientOf(t storage.Token) Client {
	c := Client{ID: t.ID, Name: t.Name}
	for _, scope := range t.Scopes {
		c.Scopes = append(c.Scopes, Scope(scope))
	}
	return c
}

// find returns the token of a hash, and whether its last use must be updated in the store.
func (k *TokenStore) find(ctx context.Context, hash string) (token storage.Token, use bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	token, is := k.cache[hash]
	if age := time.Since(k.queried); age > refreshAfter || (!is || k.err != nil) && age > minReload {
		k.reload(ctx)
		token, is = k.cache[hash]
	}
	switch {
	case time.Since(k.read) > maxStale:
		return token, false, k.err
	case !is:
		return token, false, ErrInvalidToken
	}
	if now := time.Now(); now.Sub(token.Used) >= usedInterval {
		token.Used, use = now, true
		k.cache[hash] = token
	}
	return token, use, nil
}

// reload reads the tokens. It ignores the caller's cancellation, since other requests wait for the same read.
func (k *TokenStore) reload(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	all, err := storage.Tokens(k.tokens).List(ctx)
	k.queried, k.err = time.Now(), err
	if err != nil {
		return
	}
	k.cache, k.read = map[string]storage.Token{}, k.queried
	for _, token := range all {
		k.cache[token.Hash] = token
	}
}

// invalidate makes the next check read the store.
func (k *TokenStore) invalidate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queried = time.Time{}
}

// Tokens returns all tokens in the store, ordered by creation time.
func (k *TokenStore) Tokens(ctx context.Context) ([]storage.Token, error) {
	return storage.Tokens(k.tokens).List(ctx)
}

// Create creates a token, and returns its secret, which is not stored. The error may be [storage.ErrTooMany].
func (k *TokenStore) Create(ctx context.Context, name string, scopes []Scope, now time.Time) (token storage.Token, secret string, err error) {
	secret = newSecret()
	token = storage.Token{ID: strings.ToLower(rand.Text()[:16]), Name: name, Hash: Hash(secret), Created: now}
	for _, scope := range scopes {
		if !slices.Contains(token.Scopes, string(scope)) {
			token.Scopes = append(token.Scopes, string(scope))
		}
	}
	if err := storage.Tokens(k.tokens).Add(ctx, token); err != nil {
		return storage.Token{}, "", err
	}
	k.invalidate()
	return token, secret, nil
}

// Remove removes a token. This process rejects it immediately, others within ten seconds. The error may be
// [storage.ErrNotFound].
func (k *TokenStore) Remove(ctx context.Context, id string) error {
	defer k.invalidate()
	return storage.Tokens(k.tokens).Remove(ctx, id)
}

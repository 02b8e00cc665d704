package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"feedmesh/storage"
)

// ErrInvalidToken reports a secret that belongs to no token.
var ErrInvalidToken = errors.New("the token is wrong, or was removed")

// ErrBadTokenName reports the name of a new token.
var ErrBadTokenName = errors.New("the name of a token has up to 64 characters, on one line")

// TokenName returns the stored form of the name of a token, without spaces around it, or [ErrBadTokenName].
func TokenName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > 64 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", ErrBadTokenName
	}
	return name, nil
}

// A TokenStore checks the tokens of the settings and those of a store, which it caches in memory, and limits wrong
// guesses. Its methods may be called concurrently.
type TokenStore struct {
	People *People // checks sessions and passwords

	tokens   storage.Records
	settings []setting
	guesses  *guesses
	cache    recordCache[storage.Token]    // by hash
	fever    recordCache[storage.FeverKey] // by hash
}

// A setting is the client of a token of the settings.
type setting struct {
	hash   [sha256.Size]byte
	client Client
}

// NewTokenStore returns a token store for the tokens and people of a store, which may be nil, the owner's token, and the
// token of health checks, unless these are empty.
func NewTokenStore(store storage.FencedRecords, ownerToken, healthToken string) *TokenStore {
	k := &TokenStore{guesses: newGuesses()}
	k.People = newPeople(store, k.guesses)
	if store != nil {
		k.tokens = store
		k.cache.list, k.cache.key = storage.Tokens(store).List, func(t storage.Token) string { return t.Hash }
		k.fever.list, k.fever.key = storage.FeverKeys(store).List, func(f storage.FeverKey) string { return f.Hash }
	}
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
	if IsGuessable(secret) {
		if err := k.guesses.delay(ctx, address); err != nil {
			return Client{}, false, err
		}
	}
	if c, err = k.Check(ctx, secret); errors.Is(err, ErrInvalidToken) {
		limited, err = k.guesses.wrong(address)
	}
	return c, limited, err
}

// Check returns the client of a secret, which is that of a token, of a token of a person, or of a session, or [ErrInvalidToken].
// Any other error reports that the store can't be read. The time it takes reveals nothing about other secrets: only hashes are compared, and clients can't
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
	if _, is := personIn(secret); is {
		if isTokenOfPerson(secret) {
			return k.People.Token(ctx, secret)
		}
		return k.People.Session(ctx, secret)
	}
	use := false
	token, is, err := k.cache.find(ctx, Hash(secret), func(t *storage.Token) {
		if now := time.Now(); now.Sub(t.Used) >= usedInterval {
			t.Used, use = now, true
		}
	})
	switch {
	case err != nil:
		return Client{}, err
	case !is:
		return Client{}, ErrInvalidToken
	}
	if use {
		// The last use is informational; an error must not reject the client.
		_ = storage.Tokens(k.tokens).Use(ctx, token.ID, token.Used)
	}
	return clientOf(token), nil
}

// clientOf returns the client of a token.
func clientOf(t storage.Token) Client {
	return Client{ID: t.ID, Name: t.Name, Scopes: scopesOf(t.Scopes)}
}

// scopesOf returns stored scopes.
func scopesOf(stored []string) (scopes []Scope) {
	for _, scope := range stored {
		scopes = append(scopes, Scope(scope))
	}
	return scopes
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
	k.cache.invalidate()
	return token, secret, nil
}

// Remove removes a token. This process rejects it immediately, others within ten seconds. The error may be
// [storage.ErrNotFound].
func (k *TokenStore) Remove(ctx context.Context, id string) error {
	defer k.cache.invalidate()
	return storage.Tokens(k.tokens).Remove(ctx, id)
}

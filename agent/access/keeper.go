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

// ErrWrong says that a secret is no token's.
var ErrWrong = errors.New("the token is wrong, or was removed")

// How old what is known of the store's tokens may be. A token that was removed
// elsewhere works no longer than stale.
const (
	fresh = 5 * time.Second  // after this the store is asked again
	again = time.Second      // but not more often than this, whatever is shown
	stale = 10 * time.Second // after this nobody is let in by what the store said
)

const (
	askTime   = 3 * time.Second // that the store gets to answer
	usedEvery = time.Minute     // how often it is told that a token is used
)

// A Keeper knows the tokens: the owner's, and those in a store, all of which it
// holds in memory. Its methods may be called concurrently.
type Keeper struct {
	tokens   storage.Tokens
	owner    [sha256.Size]byte
	hasOwner bool

	mu    sync.Mutex
	known map[string]storage.Token // by hash
	read  time.Time                // when the store said so
	asked time.Time
	err   error // of the store, when it was asked last
}

// NewKeeper returns a keeper of the tokens in a store, which may be nil, and of
// the owner's, if there is one.
func NewKeeper(tokens storage.Tokens, owner string) *Keeper {
	return &Keeper{tokens: tokens, owner: sha256.Sum256([]byte(owner)), hasOwner: owner != ""}
}

// Check returns the client who knows the secret, or [ErrWrong]. Any other error
// says that the store can't be asked. How long it takes tells nothing of other
// secrets: only hashes are compared, and nobody can choose theirs.
func (k *Keeper) Check(ctx context.Context, secret string) (Client, error) {
	shown := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(shown[:], k.owner[:]) == 1 && k.hasOwner {
		return owner, nil
	}
	if k.tokens == nil || !IsMade(secret) {
		return Client{}, ErrWrong
	}
	token, use, err := k.find(ctx, Hash(secret))
	if err != nil {
		return Client{}, err
	}
	if use {
		// It is for people to look at: nobody is kept out because it fails.
		_ = k.tokens.UseToken(ctx, token.ID, token.Used)
	}
	return clientOf(token), nil
}

// clientOf returns who shows a token.
func clientOf(t storage.Token) Client {
	c := Client{ID: t.ID, Name: t.Name}
	for _, scope := range t.Scopes {
		c.Scopes = append(c.Scopes, Scope(scope))
	}
	return c
}

// find returns the token of a hash, and whether the store is to be told that it
// is used.
func (k *Keeper) find(ctx context.Context, hash string) (token storage.Token, use bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	token, is := k.known[hash]
	if age := time.Since(k.asked); age > fresh || (!is || k.err != nil) && age > again {
		k.ask(ctx)
		token, is = k.known[hash]
	}
	switch {
	case time.Since(k.read) > stale:
		return token, false, k.err
	case !is:
		return token, false, ErrWrong
	}
	if now := time.Now(); now.Sub(token.Used) >= usedEvery {
		token.Used, use = now, true
		k.known[hash] = token
	}
	return token, use, nil
}

// ask reads the tokens. That the first who asks goes away must not fail the
// others, who wait for the answer.
func (k *Keeper) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	all, err := k.tokens.Tokens(ctx)
	k.asked, k.err = time.Now(), err
	if err != nil {
		return
	}
	k.known, k.read = map[string]storage.Token{}, k.asked
	for _, token := range all {
		k.known[token.Hash] = token
	}
}

// forget has the next check ask the store.
func (k *Keeper) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = time.Time{}
}

// Tokens returns all tokens in the store, ordered by when they were made.
func (k *Keeper) Tokens(ctx context.Context) ([]storage.Token, error) { return k.tokens.Tokens(ctx) }

// Make makes a token, and returns its secret, which nobody can ever be told
// again. The error may be [storage.ErrTooMany].
func (k *Keeper) Make(ctx context.Context, name string, scopes []Scope, now time.Time) (token storage.Token, secret string, err error) {
	secret = newSecret()
	token = storage.Token{ID: strings.ToLower(rand.Text()[:16]), Name: name, Hash: Hash(secret), Created: now}
	for _, scope := range scopes {
		if !slices.Contains(token.Scopes, string(scope)) {
			token.Scopes = append(token.Scopes, string(scope))
		}
	}
	if err := k.tokens.AddToken(ctx, token); err != nil {
		return storage.Token{}, "", err
	}
	k.forget()
	return token, secret, nil
}

// Remove removes a token. Here it is wrong from now on, elsewhere within ten
// seconds. The error may be [storage.ErrNotFound].
func (k *Keeper) Remove(ctx context.Context, id string) error {
	defer k.forget()
	return k.tokens.RemoveToken(ctx, id)
}

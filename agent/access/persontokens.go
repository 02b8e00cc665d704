package access

import (
	"context"
	"errors"
	"time"

	"feedmesh/storage"
)

// ErrTokenScope reports a new token of a person with more than the person's role allows.
var ErrTokenScope = errors.New("a token has at most the scopes of the role")

// Token returns the client of the secret of a token by which a program acts as a person, or [ErrInvalidToken]. Its scopes are
// those that the token and the present role of the person share. Any other error reports that the store can't be read.
func (p *People) Token(ctx context.Context, secret string) (Client, error) {
	person, err := p.personOf(ctx, secret)
	if err != nil {
		return Client{}, err
	}
	id, hash := person.ID, Hash(secret)
	t, err := p.tokens.get(ctx, hash, func(ctx context.Context) (storage.PersonToken, error) {
		return storage.PersonTokens(p.store).Read(ctx, id, hash)
	})
	now := time.Now()
	if errors.Is(err, storage.ErrNotFound) || err == nil && HasExpired(t, now) {
		err = ErrInvalidToken
	}
	if err != nil {
		return Client{}, err
	}
	if now.Sub(t.Used) >= usedInterval {
		t.Used = now
		p.tokens.change(hash, t)
		// The last use is informational; an error must not reject the program.
		_ = storage.PersonTokens(p.store).Use(ctx, id, hash, now)
	}
	c := clientOfPerson(person, "")
	c.Scopes = shared(c, Client{Scopes: scopesOf(t.Scopes)})
	c.Person, c.Token = false, t.Name
	return c, nil
}

// HasExpired reports whether a token of a person has expired.
func HasExpired(t storage.PersonToken, now time.Time) bool {
	return !t.Expires.IsZero() && !now.Before(t.Expires)
}

// Tokens returns the tokens of a person, ordered by creation time, with those that have expired.
func (p *People) Tokens(ctx context.Context, id string) ([]storage.PersonToken, error) {
	return storage.PersonTokens(p.store).List(ctx, id)
}

// AddToken makes a token for a program that acts as the person c, and returns its secret, which is not stored. It removes
// those of the person that have expired. lifetime is 0 for a token that does not expire. The error may be [ErrBadTokenName],
// [ErrTokenScope] or [storage.ErrTooMany].
func (p *People) AddToken(ctx context.Context, c Client, name string, scope Scope, lifetime time.Duration) (secret string, err error) {
	if name, err = TokenName(name); err != nil {
		return "", err
	}
	if !c.May(scope) || scope == Metrics {
		return "", ErrTokenScope
	}
	now, tokens := time.Now(), storage.PersonTokens(p.store)
	all, err := tokens.List(ctx, c.ID)
	for _, old := range all {
		if err == nil && HasExpired(old, now) {
			err = ignoreNotFound(tokens.Remove(ctx, c.ID, old.Hash))
		}
	}
	if err != nil {
		return "", err
	}
	secret = newTokenOf(c.ID)
	t := storage.PersonToken{Person: c.ID, Hash: Hash(secret), Name: name, Scopes: []string{string(scope)}, Created: now}
	if lifetime > 0 {
		t.Expires = now.Add(lifetime)
	}
	if err := tokens.Add(ctx, t); err != nil {
		return "", err
	}
	return secret, nil
}

// RemoveToken removes a token of a person. This process rejects it immediately, others within ten seconds. A token that does
// not exist is no error.
func (p *People) RemoveToken(ctx context.Context, id, hash string) error {
	defer p.tokens.drop(hash)
	return ignoreNotFound(storage.PersonTokens(p.store).Remove(ctx, id, hash))
}

// A Use is how a person uses the account.
type Use struct {
	Sessions, Tokens int       // that are valid
	Used             time.Time // last use of one of them; zero: none
}

// Uses returns the use of all accounts by ID of the person, without those that have neither sessions nor tokens.
func (p *People) Uses(ctx context.Context, people []storage.Person) (map[string]Use, error) {
	sessions, err := storage.Sessions(p.store).All(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := storage.PersonTokens(p.store).All(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[string]storage.Person{}
	for _, person := range people {
		byID[person.ID] = person
	}
	uses, now := map[string]Use{}, time.Now()
	add := func(id string, sessions, tokens int, used time.Time) {
		u := uses[id]
		u.Sessions, u.Tokens = u.Sessions+sessions, u.Tokens+tokens
		if used.After(u.Used) {
			u.Used = used
		}
		uses[id] = u
	}
	for _, s := range sessions {
		if person, is := byID[s.Person]; is && isValid(s, person, now) {
			add(s.Person, 1, 0, s.Used)
		}
	}
	for _, t := range tokens {
		if !HasExpired(t, now) {
			add(t.Person, 0, 1, t.Used)
		}
	}
	return uses, nil
}

package access

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"feedmesh/storage"
)

// The protocol defines the hash. It is of a random password of 130 bits, which is no easier to find for it.
//
// Source: https://web.archive.org/web/feedafever.com/api, "Authentication".
func feverKey(name, password string) string {
	sum := md5.Sum([]byte(name + ":" + password))
	return hex.EncodeToString(sum[:])
}

// FeverName returns the name that a client enters in an app that uses the Fever API: that of the person or the token.
func FeverName(c Client) string {
	if c.ID == OwnerID {
		return OwnerID
	}
	return c.Name
}

// SetFeverPassword generates the password of the client's apps that use the Fever API, instead of an earlier one. It is not
// stored. The error may be [storage.ErrTooMany].
func (k *TokenStore) SetFeverPassword(ctx context.Context, c Client, now time.Time) (password string, err error) {
	key := storage.FeverKey{Client: c.ID, Created: now}
	if c.Person {
		person, is, err := k.People.cache.find(ctx, c.ID, nil)
		if err != nil || !is {
			return "", errors.Join(err, ErrInvalidToken)
		}
		key.Passwords = person.Passwords
	}
	password = strings.ToLower(rand.Text())
	key.Hash = Hash(feverKey(FeverName(c), password))
	defer k.fever.invalidate()
	return password, storage.FeverKeys(k.tokens).Put(ctx, key)
}

// FeverPassword returns when the client's password was generated and used last, or [storage.ErrNotFound] if it has none that
// is valid.
func (k *TokenStore) FeverPassword(ctx context.Context, c Client) (storage.FeverKey, error) {
	key, err := storage.FeverKeys(k.tokens).Read(ctx, c.ID)
	if err != nil {
		return storage.FeverKey{}, err
	}
	if _, err := k.feverClient(ctx, key); err != nil {
		if errors.Is(err, ErrInvalidToken) {
			err = storage.ErrNotFound
		}
		return storage.FeverKey{}, err
	}
	return key, nil
}

// RemoveFeverPassword removes the password of a client, if it has any. This process rejects it immediately, others within
// ten seconds.
func (k *TokenStore) RemoveFeverPassword(ctx context.Context, client string) error {
	defer k.fever.invalidate()
	return ignoreNotFound(storage.FeverKeys(k.tokens).Remove(ctx, client))
}

// AuthenticateFever returns the client of a key of the Fever API: the MD5 of name and password in hexadecimal. It may read,
// whatever else the person or the token may do. The errors are those of [TokenStore.Authenticate].
func (k *TokenStore) AuthenticateFever(ctx context.Context, key, address string) (c Client, limited bool, err error) {
	if c, err = k.checkFever(ctx, key); errors.Is(err, ErrInvalidToken) {
		limited, err = k.guesses.wrong(address)
	}
	return c, limited, err
}

func (k *TokenStore) checkFever(ctx context.Context, key string) (Client, error) {
	if k.tokens == nil || len(key) != 2*md5.Size {
		return Client{}, ErrInvalidToken
	}
	use := false
	stored, is, err := k.fever.find(ctx, Hash(strings.ToLower(key)), func(f *storage.FeverKey) {
		if now := time.Now(); now.Sub(f.Used) >= usedInterval {
			f.Used, use = now, true
		}
	})
	switch {
	case err != nil:
		return Client{}, err
	case !is:
		return Client{}, ErrInvalidToken
	}
	c, err := k.feverClient(ctx, stored)
	if err == nil && use {
		// The last use is informational; an error must not reject the client.
		_ = storage.FeverKeys(k.tokens).Use(ctx, stored)
	}
	return c, err
}

// feverClient returns the client of a key, or [ErrInvalidToken] if the person or the token was removed, may not read, or the
// person has set another password since.
func (k *TokenStore) feverClient(ctx context.Context, key storage.FeverKey) (Client, error) {
	c, err := k.clientByID(ctx, key)
	switch {
	case err != nil:
		return Client{}, err
	case !c.May(Read):
		return Client{}, ErrInvalidToken
	}
	c.Scopes = []Scope{Search, Read}
	return c, nil
}

func (k *TokenStore) clientByID(ctx context.Context, key storage.FeverKey) (Client, error) {
	for _, s := range k.settings {
		if s.client.ID == key.Client {
			return s.client, nil
		}
	}
	person, is, err := k.People.cache.find(ctx, key.Client, nil)
	switch {
	case err != nil:
		return Client{}, err
	case is && key.Passwords < person.Passwords:
		return Client{}, ErrInvalidToken
	case is:
		return clientOfPerson(person, ""), nil
	}
	token, is, err := k.cache.search(ctx, refreshAfter, func(t storage.Token) bool { return t.ID == key.Client })
	if err == nil && !is {
		err = ErrInvalidToken
	}
	if err != nil {
		return Client{}, err
	}
	return clientOf(token), nil
}

package access_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedmesh/agent/access"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

// A counting store counts reads and uses of its tokens, and can be made unavailable.
type counting struct {
	storage.Store
	reads, uses int
	away        error
}

func (s *counting) ReadRecords(ctx context.Context, table *storage.Table, query storage.RecordQuery) ([]any, error) {
	s.reads++
	if s.away != nil {
		return nil, s.away
	}
	return s.Store.ReadRecords(ctx, table, query)
}

func (s *counting) ChangeRecord(ctx context.Context, table *storage.Table, change storage.RecordChange) error {
	s.uses++
	return s.Store.ChangeRecord(ctx, table, change)
}

// make creates a token with another TokenStore, as another node does.
func (s *counting) make(t *testing.T, scopes ...access.Scope) (token storage.Token, secret string) {
	t.Helper()
	token, secret, err := access.NewTokenStore(s.Store, "", "").Create(t.Context(), "phone", scopes, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return token, secret
}

func wrong(t *testing.T, k *access.TokenStore, secret string) {
	t.Helper()
	if c, err := k.Check(t.Context(), secret); !errors.Is(err, access.ErrInvalidToken) || c.ID != "" {
		t.Errorf("%.5s...: got %+v, %v; want %v", secret, c, err, access.ErrInvalidToken)
	}
}

func right(t *testing.T, k *access.TokenStore, secret, id string) access.Client {
	t.Helper()
	c, err := k.Check(t.Context(), secret)
	if err != nil || c.ID != id {
		t.Errorf("%.5s...: got %+v, %v; want the client %s", secret, c, err, id)
	}
	return c
}

func TestTokenStore_AcceptsStoredTokensOnly(t *testing.T) {
	store := &counting{Store: enginetest.Store(t)}
	token, secret := store.make(t, access.Search, access.Search)
	k := access.NewTokenStore(store, "s3cret", "")
	if c := right(t, k, secret, token.ID); c.Name != "phone" || len(c.Scopes) != 1 || !c.May(access.Search) || c.May(access.Read) {
		t.Errorf("got %+v, want a client with scope search", c)
	}
	if c := right(t, k, "s3cret", access.OwnerID); !c.May(access.Admin) {
		t.Errorf("got %+v, want the owner with all scopes", c)
	}
	for _, secret := range []string{"", " ", "s3cre", "s3cret ", "S3CRET", "fm_", secret[:len(secret)-1], strings.ToUpper(secret), secret + "a", token.Hash, token.ID, "fm_" + token.Hash} {
		wrong(t, k, secret)
	}
	wrong(t, access.NewTokenStore(store, "", ""), "")
	wrong(t, access.NewTokenStore(nil, "s3cret", ""), secret)
	right(t, access.NewTokenStore(nil, "s3cret", ""), "s3cret", access.OwnerID)
}

func TestTokenStore_SecretIsRandomAndNotStored(t *testing.T) {
	store := &counting{Store: enginetest.Store(t)}
	seen := map[string]bool{}
	for range 100 {
		token, secret := store.make(t, access.Read)
		if len(secret) != len("fm_")+52 || !access.IsGenerated(secret) || access.IsGuessable(secret) || seen[secret] || seen[token.ID] {
			t.Errorf("got %q for %q, want 32 new bytes", secret, token.ID)
		}
		seen[secret], seen[token.ID] = true, true
		if token.Hash != access.Hash(secret) || strings.Contains(token.Hash+token.ID+token.Name, secret[3:]) {
			t.Errorf("got %+v, want only the hash of the secret", token)
		}
	}
}

func TestTokenStore_RemovalTakesEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counting{Store: enginetest.Store(t)}
		token, secret := store.make(t, access.Read)
		k := access.NewTokenStore(store, "", "")
		right(t, k, secret, token.ID)
		if err := storage.Tokens(store).Remove(t.Context(), token.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		wrong(t, k, secret)

		token, secret = store.make(t, access.Read)
		time.Sleep(time.Second + 1)
		right(t, k, secret, token.ID) // a token created on another node works within a second
		if err := k.Remove(t.Context(), token.ID); err != nil {
			t.Fatal(err)
		}
		wrong(t, k, secret) // removal on this node takes effect immediately
		if err := k.Remove(t.Context(), token.ID); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("got %v, want %v", err, storage.ErrNotFound)
		}
	})
}

func TestTokenStore_NewTokenWorksImmediately(t *testing.T) {
	k := access.NewTokenStore(enginetest.Store(t), "", "")
	wrong(t, k, "fm_nothing")
	token, secret, err := k.Create(t.Context(), "phone", []access.Scope{access.Read}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	right(t, k, secret, token.ID)
}

func TestTokenStore_CachesWrongTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counting{Store: enginetest.Store(t)}
		k := access.NewTokenStore(store, "s3cret", "")
		for i := range 1000 {
			wrong(t, k, "guess")
			wrong(t, k, "fm_guess")
			if i%100 == 0 {
				time.Sleep(300 * time.Millisecond)
			}
		}
		if store.reads > 4 {
			t.Errorf("2000 wrong tokens in 3 s read the store %d times, want once a second", store.reads)
		}
	})
}

func TestTokenStore_UseWrittenOncePerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counting{Store: enginetest.Store(t)}
		token, secret := store.make(t, access.Read)
		k := access.NewTokenStore(store, "", "")
		for range 600 { // within 150 seconds
			right(t, k, secret, token.ID)
			time.Sleep(250 * time.Millisecond)
		}
		all, err := storage.Tokens(store.Store).List(t.Context())
		if err != nil || store.uses != 3 || time.Since(all[0].Used) > time.Minute {
			t.Errorf("got %d writes, the last %v ago, %v; want 3, the last within a minute", store.uses, time.Since(all[0].Used), err)
		}
	})
}

func TestTokenStore_CacheAgeWithoutStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counting{Store: enginetest.Store(t)}
		token, secret := store.make(t, access.Read)
		k := access.NewTokenStore(store, "s3cret", "")
		right(t, k, secret, token.ID)
		store.away = storage.ErrUnavailable
		time.Sleep(9 * time.Second)
		right(t, k, secret, token.ID)
		time.Sleep(2 * time.Second)
		if _, err := k.Check(t.Context(), secret); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("got %v, want %v", err, storage.ErrUnavailable)
		}
		right(t, k, "s3cret", access.OwnerID) // needs no store
		store.away = nil
		time.Sleep(time.Second + 1)
		right(t, k, secret, token.ID)
	})
}

// The first caller may cancel while the store still answers; other callers share the read.
func TestTokenStore_CancelledRequestIsIsolated(t *testing.T) {
	store := &counting{Store: enginetest.Store(t)}
	token, secret := store.make(t, access.Read)
	k := access.NewTokenStore(store, "", "")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := k.Check(gone, secret); err != nil || c.ID != token.ID {
		t.Errorf("got %+v, %v; want the client", c, err)
	}
	right(t, k, secret, token.ID)
}

package access_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedmesh/agent/access"
)

// wrongly sends n wrong secrets from an address.
func wrongly(t *testing.T, k *access.TokenStore, address string, n int) {
	t.Helper()
	for range n {
		if _, _, err := k.Authenticate(t.Context(), "guess", address); !errors.Is(err, access.ErrInvalidToken) {
			t.Fatalf("got %v, want ErrInvalidToken", err)
		}
	}
}

// check returns how long a right secret waits.
func check(t *testing.T, k *access.TokenStore, secret, address string) time.Duration {
	t.Helper()
	begun := time.Now()
	if c, _, err := k.Authenticate(t.Context(), secret, address); err != nil || c.ID != access.OwnerID {
		t.Errorf("got %+v, %v; want the owner", c, err)
	}
	return time.Since(begun)
}

func TestAuthenticate_RightSecretPassesBesideGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := access.NewTokenStore(nil, "s3cret", "")
		wrongly(t, k, "a", access.WrongTokens)
		var guess *access.GuessError
		if _, _, err := k.Authenticate(t.Context(), "guess", "a"); !errors.As(err, &guess) || guess.Wait <= 0 {
			t.Errorf("got %v, want a GuessError", err)
		}
		if got := check(t, k, "s3cret", "b"); got > 0 {
			t.Errorf("another address waits for %v", got)
		}
		var guessers sync.WaitGroup
		for range 1000 {
			guessers.Go(func() { k.Authenticate(t.Context(), "guess", "a") })
		}
		synctest.Wait()
		if got := check(t, k, "s3cret", "a"); got == 0 || got > 10*time.Second {
			t.Errorf("the same address waits for %v, want up to 10 s", got)
		}
		guessers.Wait()
	})
}

// Guesses from many addresses together slow down all checks of secrets that can be guessed.
func TestAuthenticate_GlobalSlowdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short, long := access.NewTokenStore(nil, "s3cret", ""), access.NewTokenStore(nil, "correct horse battery staple", "")
		for i := range 20 {
			wrongly(t, short, fmt.Sprint(i), 5)
			wrongly(t, long, fmt.Sprint(i), 5)
		}
		if got := check(t, short, "s3cret", "new"); got == 0 {
			t.Error("a short secret is not delayed")
		}
		if got := check(t, long, "correct horse battery staple", "new"); got > 0 {
			t.Errorf("a secret that can't be guessed waits for %v", got)
		}
	})
}

package storagetest

import (
	"fmt"
	"sync"
	"time"

	"feedmesh/storage"
)

// aToken returns a token with a value in every field that AddToken stores.
func aToken(id string, created time.Time) storage.Token {
	return storage.Token{ID: id, Name: "Ann's <phone> & телефон", Hash: "hash of " + id, Scopes: []string{"search", "read"}, Created: created}
}

func addToken(c storeTest, t storage.Token) {
	c.Helper()
	if err := storage.Tokens(c.Store).Add(c.Context(), t); err != nil {
		c.Fatalf("add token: %v", err)
	}
}

// wantTokens fails unless Tokens returns exactly these, in this order.
func wantTokens(c storeTest, want ...storage.Token) {
	c.Helper()
	got, err := storage.Tokens(c.Store).List(c.Context())
	if err != nil || len(got) != len(want) {
		c.Fatalf("there are %d tokens, %v; want %d", len(got), err, len(want))
	}
	for i := range want {
		c.wantEqual("a token", got[i], want[i])
	}
}

func tokensInOrder(c storeTest) {
	wantTokens(c)
	bare := storage.Token{ID: "bare", Created: day}
	late := aToken("a", day.Add(time.Microsecond))
	addToken(c, late)
	addToken(c, aToken("b", day))
	addToken(c, bare)
	wantTokens(c, aToken("b", day), bare, late)
}

func storedToken(c storeTest) {
	addToken(c, aToken("a", day))
	other := aToken("a", day.Add(time.Hour))
	other.Hash, other.Scopes, other.Used = "another", []string{"admin"}, day
	addToken(c, other)
	wantTokens(c, aToken("a", day))
}

func usedToken(c storeTest) {
	want := aToken("a", day)
	input := want
	input.Used = day // AddToken ignores it
	addToken(c, input)
	wantTokens(c, want)
	use := func(id string, at time.Time) {
		c.Helper()
		if err := storage.Tokens(c.Store).Use(c.Context(), id, at); err != nil {
			c.Fatalf("use token: %v", err)
		}
	}
	use("a", day.Add(2*time.Hour))
	use("a", day.Add(time.Hour)) // an older use, reported late
	use("gone", day)
	want.Used = day.Add(2 * time.Hour)
	wantTokens(c, want)
}

func removeToken(c storeTest) {
	addToken(c, aToken("a", day))
	addToken(c, aToken("b", day))
	if err := storage.Tokens(c.Store).Remove(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	wantTokens(c, aToken("b", day))
	c.wantError("remove it again", storage.Tokens(c.Store).Remove(c.Context(), "a"), storage.ErrNotFound)
}

// manyTokens lets two workers add the last tokens within the limit, and one more each.
func manyTokens(c storeTest) {
	for i := range storage.MaxTokens - 2 {
		addToken(c, aToken(fmt.Sprintf("token-%04d", i), day))
	}
	var adding sync.WaitGroup
	var errs [4]error
	for i := range errs {
		adding.Go(func() { errs[i] = storage.Tokens(c.Store).Add(c.Context(), aToken(fmt.Sprint("late-", i), day)) })
	}
	adding.Wait()
	rejected := 0
	for _, err := range errs {
		if err != nil {
			c.wantError("add one too many", err, storage.ErrTooMany)
			rejected++
		}
	}
	if all, err := storage.Tokens(c.Store).List(c.Context()); err != nil || len(all) != storage.MaxTokens || rejected != 2 {
		c.Errorf("got %d tokens, %v, and %d rejected; want %d, and 2", len(all), err, rejected, storage.MaxTokens)
	}
	addToken(c, aToken("token-0000", day)) // already stored, so the limit does not apply
	if err := storage.Tokens(c.Store).Remove(c.Context(), "token-0000"); err != nil {
		c.Fatal(err)
	}
	addToken(c, aToken("another", day))
}

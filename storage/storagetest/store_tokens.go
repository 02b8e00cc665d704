package storagetest

import (
	"fmt"
	"sync"
	"time"

	"feedmesh/storage"
)

// aToken returns a token that says something in every field AddToken keeps.
func aToken(id string, created time.Time) storage.Token {
	return storage.Token{ID: id, Name: "Ann's <phone> & телефон", Hash: "hash of " + id, Scopes: []string{"search", "read"}, Created: created}
}

func (c storeTest) addToken(t storage.Token) {
	c.Helper()
	if err := c.AddToken(c.Context(), t); err != nil {
		c.Fatalf("add token: %v", err)
	}
}

// wantTokens fails unless these are all there are, in this order.
func (c storeTest) wantTokens(want ...storage.Token) {
	c.Helper()
	got, err := c.Tokens(c.Context())
	if err != nil || len(got) != len(want) {
		c.Fatalf("there are %d tokens, %v; want %d", len(got), err, len(want))
	}
	for i := range want {
		c.wantEqual("a token", got[i], want[i])
	}
}

func (c storeTest) tokensComeBack() {
	c.wantTokens()
	bare := storage.Token{ID: "bare", Created: day}
	late := aToken("a", day.Add(time.Microsecond))
	c.addToken(late)
	c.addToken(aToken("b", day))
	c.addToken(bare)
	c.wantTokens(aToken("b", day), bare, late)
}

func (c storeTest) knownToken() {
	c.addToken(aToken("a", day))
	other := aToken("a", day.Add(time.Hour))
	other.Hash, other.Scopes, other.Used = "another", []string{"admin"}, day
	c.addToken(other)
	c.wantTokens(aToken("a", day))
}

func (c storeTest) usedToken() {
	want := aToken("a", day)
	given := want
	given.Used = day // no token comes used
	c.addToken(given)
	c.wantTokens(want)
	use := func(id string, at time.Time) {
		c.Helper()
		if err := c.UseToken(c.Context(), id, at); err != nil {
			c.Fatalf("use token: %v", err)
		}
	}
	use("a", day.Add(2*time.Hour))
	use("a", day.Add(time.Hour)) // word of it came late
	use("gone", day)
	want.Used = day.Add(2 * time.Hour)
	c.wantTokens(want)
}

func (c storeTest) removeToken() {
	c.addToken(aToken("a", day))
	c.addToken(aToken("b", day))
	if err := c.RemoveToken(c.Context(), "a"); err != nil {
		c.Fatal(err)
	}
	c.wantTokens(aToken("b", day))
	c.wantError("remove it again", c.RemoveToken(c.Context(), "a"), storage.ErrNotFound)
}

// Two add the last tokens there is room for, and one more each.
func (c storeTest) manyTokens() {
	for i := range storage.MaxTokens - 2 {
		c.addToken(aToken(fmt.Sprintf("token-%04d", i), day))
	}
	var adding sync.WaitGroup
	var errs [4]error
	for i := range errs {
		adding.Go(func() { errs[i] = c.AddToken(c.Context(), aToken(fmt.Sprint("late-", i), day)) })
	}
	adding.Wait()
	refused := 0
	for _, err := range errs {
		if err != nil {
			c.wantError("add one too many", err, storage.ErrTooMany)
			refused++
		}
	}
	if all, err := c.Tokens(c.Context()); err != nil || len(all) != storage.MaxTokens || refused != 2 {
		c.Errorf("there are %d tokens, %v, and %d were refused; want %d, and 2", len(all), err, refused, storage.MaxTokens)
	}
	c.addToken(aToken("token-0000", day)) // is known, and takes no room
	if err := c.RemoveToken(c.Context(), "token-0000"); err != nil {
		c.Fatal(err)
	}
	c.addToken(aToken("another", day))
}

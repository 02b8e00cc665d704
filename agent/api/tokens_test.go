package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/storage"
	"feedmesh/storage/memory"
)

// secret makes a token and returns what is to be shown for it.
func (w *world) secret(t *testing.T, scopes ...access.Scope) string {
	t.Helper()
	_, secret, err := w.server.keeper.Make(t.Context(), "test", scopes, now)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// token makes a token and returns its ID.
func (w *world) token(t *testing.T, scopes ...access.Scope) string {
	t.Helper()
	token, _, err := w.server.keeper.Make(t.Context(), "test", scopes, now)
	if err != nil {
		t.Fatal(err)
	}
	return token.ID
}

func withOwner(d *Deps) { d.Token = "s3cret" }

func TestATokensSecretIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withOwner)
	owner := func(method, path, content string) answer {
		return w.ask(t, method, path, content, "Authorization", "Bearer s3cret")
	}
	a := owner("POST", "/api/tokens", `{"name":" Ann's phone ","scopes":["search","read"]}`)
	made := answerAs[NewToken](t, a)
	if a.StatusCode != http.StatusCreated || made.Name != "Ann's phone" || !access.IsMade(made.Secret) || !made.Used.IsZero() || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %s %v, want a token that nothing on the way keeps", a.StatusCode, a.body, a.Header)
	}
	if a := w.ask(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+made.Secret); a.StatusCode != 200 {
		t.Errorf("with it: got %d %s, want 200", a.StatusCode, a.body)
	}
	list := owner("GET", "/api/tokens", "")
	all := answerAs[Tokens](t, list).Tokens
	if len(all) != 1 || all[0].ID != made.ID || all[0].Used.IsZero() || fmt.Sprint(all[0].Scopes) != "[search read]" {
		t.Errorf("got %+v, want the token, used", all)
	}
	stored, err := w.store.Tokens(t.Context())
	if err != nil || len(stored) != 1 || strings.Contains(list.body+fmt.Sprint(stored), made.Secret) || strings.Contains(list.body, stored[0].Hash) {
		t.Errorf("got %s, and %+v in the store, %v; want the secret nowhere, its hash in the store alone", list.body, stored, err)
	}
	if a := owner("DELETE", "/api/tokens/"+made.ID, ""); a.StatusCode != http.StatusNoContent {
		t.Errorf("remove: got %d %s, want 204", a.StatusCode, a.body)
	}
	w.ask(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+made.Secret).isProblem(t, http.StatusUnauthorized, "show the token")
}

func TestThereAreNoMoreTokensThanThereMayBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range storage.MaxTokens {
		if err := w.store.AddToken(t.Context(), storage.Token{ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	w.ask(t, "POST", "/api/tokens", `{"name":"phone","scopes":["read"]}`).isProblem(t, http.StatusConflict, "remove one first")
	if _, _, err := w.server.keeper.Make(t.Context(), "phone", nil, now); !errors.Is(err, storage.ErrTooMany) {
		t.Errorf("got %v, want %v", err, storage.ErrTooMany)
	}
}

// Nobody who is on this machine need show a token, but whoever does is its client.
func TestATokenCountsWhereNoneIsNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := w.secret(t, access.Search)
	for _, host := range []string{"localhost", "feeds.example.org"} { // such a name comes by a proxy on this machine
		if a := w.ask(t, "GET", "/api/search", "", "Host", host, "Authorization", "Bearer "+secret); a.StatusCode != 200 {
			t.Errorf("%s: got %d %s, want 200", host, a.StatusCode, a.body)
		}
		w.ask(t, "GET", "/api/feeds", "", "Host", host, "Authorization", "Bearer "+secret).isProblem(t, http.StatusForbidden, "one of scope read")
		w.ask(t, "GET", "/api/search", "", "Host", host, "Authorization", "Bearer fm_gone").isProblem(t, http.StatusUnauthorized, "show the token")
	}
	if a := w.ask(t, "GET", "/api/feeds", "", "Authorization", basic("ann", "of a proxy in front of us")); a.StatusCode != 200 {
		t.Errorf("a password that is not ours: got %d %s, want 200", a.StatusCode, a.body)
	}
	w.ask(t, "GET", "/api/feeds", "", "Host", "evil.example", "Authorization", basic("ann", "of another")).isProblem(t, http.StatusForbidden, "only this machine")
}

func TestOneWhoGuessesIsKeptOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withOwner)
	secret := w.secret(t, access.Read)
	for i := range wrongTokens {
		w.ask(t, "GET", "/api/feeds", "", "Authorization", fmt.Sprint("Bearer guess", i)).isProblem(t, http.StatusUnauthorized, "show the token")
	}
	for _, guess := range []string{"guess", "s3cret", "fm_" + strings.Repeat("a", 52)} { // the second is right, and short enough to be guessed
		a := w.ask(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+guess)
		if a.isProblem(t, http.StatusTooManyRequests, "too many wrong tokens"); a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got %v, want to be told how long to wait", guess, a.Header)
		}
	}
	if a := w.ask(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+secret); a.StatusCode != 200 {
		t.Errorf("a token that nobody can guess: got %d %s, want 200", a.StatusCode, a.body)
	}
	w.ask(t, "GET", "/api/feeds", "").isProblem(t, http.StatusUnauthorized, "show the token") // no guess
}

func TestALongOwnersTokenPassesTheThrottle(t *testing.T) {
	t.Parallel()
	long := "correct horse battery staple"
	w := newWorld(t, func(d *Deps) { d.Token = long })
	for range 2 * wrongTokens {
		w.ask(t, "GET", "/api/feeds", "", "Authorization", "Bearer guess")
	}
	if a := w.ask(t, "GET", "/api/feeds", "", "Authorization", basic("", long)); a.StatusCode != 200 {
		t.Errorf("got %d %s, want 200", a.StatusCode, a.body)
	}
}

func TestAStoreThatIsAwayKeepsOutAllButTheOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withOwner)
	secret := w.secret(t, access.Read)
	w.server.keeper = access.NewKeeper(awayTokens{}, "s3cret")
	w.ask(t, "GET", "/api/status", "", "Authorization", "Bearer "+secret).isProblem(t, http.StatusServiceUnavailable, "can't be read")
	if a := w.ask(t, "GET", "/api/status", "", "Authorization", "Bearer s3cret"); a.StatusCode != 200 {
		t.Errorf("the owner: got %d %s, want 200", a.StatusCode, a.body)
	}
}

// awayTokens can't be read.
type awayTokens struct{ *memory.Store }

func (awayTokens) Tokens(context.Context) ([]storage.Token, error) {
	return nil, storage.ErrUnavailable
}

// answerAs returns what an answer has as JSON.
func answerAs[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%s %s: %v in %d %s", a.Request.Method, a.Request.URL, err, a.StatusCode, a.body)
	}
	return v
}

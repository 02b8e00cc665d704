package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// secret creates a token and returns its secret.
func (w *testbed) secret(t *testing.T, scopes ...access.Scope) string {
	t.Helper()
	_, secret, err := w.server.Tokens.TokenStore.Create(t.Context(), "test", scopes, now)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// token creates a token and returns its ID.
func (w *testbed) token(t *testing.T, scopes ...access.Scope) string {
	t.Helper()
	token, _, err := w.server.Tokens.TokenStore.Create(t.Context(), "test", scopes, now)
	if err != nil {
		t.Fatal(err)
	}
	return token.ID
}

func withOwner(d *setup) { d.Token = "s3cret" }

func TestTokens_SecretReturnedOnce(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner)
	owner := func(method, path, content string) answer {
		return w.request(t, method, path, content, "Authorization", "Bearer s3cret")
	}
	a := owner("POST", "/api/tokens", `{"name":" Ann's phone ","scopes":["search","read"]}`)
	made := answerAs[wire.NewToken](t, a)
	if a.StatusCode != http.StatusCreated || made.Name != "Ann's phone" || !access.IsGenerated(made.Secret) || !made.Used.IsZero() || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %s %v, want a token that nothing on the way keeps", a.StatusCode, a.body, a.Header)
	}
	if a := w.request(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+made.Secret); a.StatusCode != 200 {
		t.Errorf("with it: got %d %s, want 200", a.StatusCode, a.body)
	}
	list := owner("GET", "/api/tokens", "")
	all := answerAs[wire.Tokens](t, list).Tokens
	if len(all) != 1 || all[0].ID != made.ID || all[0].Used.IsZero() || fmt.Sprint(all[0].Scopes) != "[search read]" {
		t.Errorf("got %+v, want the token, used", all)
	}
	stored, err := storage.Tokens(w.Store).List(t.Context())
	if err != nil || len(stored) != 1 || strings.Contains(list.body+fmt.Sprint(stored), made.Secret) || strings.Contains(list.body, stored[0].Hash) {
		t.Errorf("got %s, and %+v in the store, %v; want the secret nowhere, its hash in the store alone", list.body, stored, err)
	}
	if a := owner("DELETE", "/api/tokens/"+made.ID, ""); a.StatusCode != http.StatusNoContent {
		t.Errorf("remove: got %d %s, want 204", a.StatusCode, a.body)
	}
	w.request(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+made.Secret).isProblem(t, http.StatusUnauthorized, "a token is required")
}

func TestTokens_Limit(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	for i := range storage.MaxTokens {
		if err := storage.Tokens(w.Store).Add(t.Context(), storage.Token{ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	w.request(t, "POST", "/api/tokens", `{"name":"phone","scopes":["read"]}`).isProblem(t, http.StatusConflict, "remove one first")
	if _, _, err := w.server.Tokens.TokenStore.Create(t.Context(), "phone", nil, now); !errors.Is(err, storage.ErrTooMany) {
		t.Errorf("got %v, want %v", err, storage.ErrTooMany)
	}
}

// Loopback clients need no token; a token that is sent limits them to its scope.
func TestTokens_ScopeAppliesOnLoopback(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	secret := w.secret(t, access.Search)
	for _, host := range []string{"localhost", "feeds.example.org"} { // a proxy on this machine forwards such a name
		if a := w.request(t, "GET", "/api/search", "", "Host", host, "Authorization", "Bearer "+secret); a.StatusCode != 200 {
			t.Errorf("%s: got %d %s, want 200", host, a.StatusCode, a.body)
		}
		w.request(t, "GET", "/api/feeds", "", "Host", host, "Authorization", "Bearer "+secret).isProblem(t, http.StatusForbidden, "lacks the scope read")
		w.request(t, "GET", "/api/search", "", "Host", host, "Authorization", "Bearer fm_gone").isProblem(t, http.StatusUnauthorized, "a token is required")
	}
	if a := w.request(t, "GET", "/api/feeds", "", "Authorization", basic("ann", "of a proxy in front of us")); a.StatusCode != 200 {
		t.Errorf("a password that is not ours: got %d %s, want 200", a.StatusCode, a.body)
	}
	w.request(t, "GET", "/api/feeds", "", "Host", "evil.example", "Authorization", basic("ann", "of another")).isProblem(t, http.StatusForbidden, "only from this machine")
}

func TestTokens_GuessesAreThrottled(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner)
	secret := w.secret(t, access.Read)
	for i := range access.WrongTokens {
		w.request(t, "GET", "/api/feeds", "", "Authorization", fmt.Sprint("Bearer guess", i)).isProblem(t, http.StatusUnauthorized, "a token is required")
	}
	for _, guess := range []string{"guess", "fm_" + strings.Repeat("a", 52)} {
		a := w.request(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+guess)
		if a.isProblem(t, http.StatusTooManyRequests, "too many wrong tokens"); a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: got %v, want Retry-After", guess, a.Header)
		}
	}
	for _, right := range []string{secret, "s3cret"} { // the second is short enough to be guessed, and only delayed
		if a := w.request(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+right); a.StatusCode != 200 {
			t.Errorf("a right token: got %d %s, want 200", a.StatusCode, a.body)
		}
	}
	w.request(t, "GET", "/api/feeds", "").isProblem(t, http.StatusUnauthorized, "a token is required") // not counted as a guess
}

func TestTokens_OwnerPassesThrottle(t *testing.T) {
	t.Parallel()
	long := "correct horse battery staple"
	w := newTestbed(t, func(d *setup) { d.Token = long })
	for range 2 * access.WrongTokens {
		w.request(t, "GET", "/api/feeds", "", "Authorization", "Bearer guess")
	}
	if a := w.request(t, "GET", "/api/feeds", "", "Authorization", basic("", long)); a.StatusCode != 200 {
		t.Errorf("got %d %s, want 200", a.StatusCode, a.body)
	}
}

func TestTokens_StoreUnavailable(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, withOwner, func(d *setup) { d.Store = awayTokens{d.Store} })
	secret := w.secret(t, access.Read)
	w.request(t, "GET", "/api/status", "", "Authorization", "Bearer "+secret).isProblem(t, http.StatusServiceUnavailable, "can't be read")
	if a := w.request(t, "GET", "/api/status", "", "Authorization", "Bearer s3cret"); a.StatusCode != 200 {
		t.Errorf("the owner: got %d %s, want 200", a.StatusCode, a.body)
	}
}

// awayTokens is an unavailable store of tokens.
type awayTokens struct{ storage.Store }

func (awayTokens) ReadRecords(context.Context, *storage.Table, storage.RecordQuery) ([]any, error) {
	return nil, storage.ErrUnavailable
}

// answerAs decodes the JSON of an answer.
func answerAs[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%s %s: %v in %d %s", a.Request.Method, a.Request.URL, err, a.StatusCode, a.body)
	}
	return v
}

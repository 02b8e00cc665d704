package rest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/access"
)

func TestPeople_PasskeysNeedANameAndThisSite(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	if a := w.request(t, "GET", "/login", ""); strings.Contains(a.body, "passkey") {
		t.Error("the login has passkeys for an address of digits")
	}
	if a := w.request(t, "GET", "/login", "", "Host", "localhost"); !strings.Contains(a.body, "Log in with a passkey") {
		t.Errorf("got %s, want a button", a.body)
	}
	a := w.form(t, "/login/passkey/begin", nil, "Host", "localhost")
	if a.StatusCode != 200 || !strings.Contains(a.body, `"rpId":"localhost"`) || !strings.Contains(a.body, `"userVerification":"preferred"`) || len(a.Cookies()) != 1 || !a.Cookies()[0].HttpOnly {
		t.Errorf("got %d %s %v", a.StatusCode, a.body, a.Cookies())
	}
	w.form(t, "/login/passkey/begin", nil, "Host", "localhost", "Origin", "https://evil.example").isProblem(t, http.StatusForbidden, "another site")
	if a := w.form(t, "/login/passkey", nil, "Host", "localhost"); a.StatusCode != http.StatusGone || len(a.Cookies()) != 1 || a.Cookies()[0].MaxAge >= 0 {
		t.Errorf("without a challenge: got %d %s", a.StatusCode, a.body)
	}
	if a := w.request(t, "GET", "/login/oidc", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("without a provider: got %d, want 404", a.StatusCode)
	}
}

// An open session alone does not suffice to add a passkey to a person with a password.
func TestPeople_AddingAPasskeyNeedsThePassword(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	cookie := w.login(t, "cid")
	begin := func(password string) answer {
		return w.form(t, "/account/passkeys/begin", url.Values{"password": {password}, "label": {"Phone"}}, "Cookie", cookie, "Host", "localhost")
	}
	if a := begin("wrong password"); a.StatusCode != http.StatusUnauthorized || len(a.Cookies()) > 0 {
		t.Errorf("got %d %s, want 401", a.StatusCode, a.body)
	}
	if a := begin(password); a.StatusCode != 200 || !strings.Contains(a.body, `"residentKey":"required"`) || len(a.Cookies()) != 1 {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
	if a := w.form(t, "/account/passkeys/begin", nil, "Host", "localhost"); a.StatusCode == 200 {
		t.Errorf("without a session: got %d", a.StatusCode)
	}
	if a := w.form(t, "/login/first/passkey/begin", url.Values{"link": {""}}, "Cookie", cookie, "Host", "localhost"); a.StatusCode != http.StatusGone {
		t.Errorf("without a link: got %d, want 410", a.StatusCode)
	}
	page := w.request(t, "GET", "/account", "", "Cookie", cookie, "Host", "localhost")
	if page.StatusCode != 200 || !strings.Contains(page.body, "Add passkey") {
		t.Errorf("got %d %s", page.StatusCode, page.body)
	}
	if a := w.form(t, "/account/passkeys/remove", url.Values{"passkey": {"none"}}, "Cookie", cookie); a.StatusCode != http.StatusSeeOther || len(a.Cookies()) != 1 {
		t.Errorf("remove: got %d %s", a.StatusCode, a.body)
	}
}

// A token of a person may do less than the person, and a passkey would do all.
func TestPeople_TokensAddNoPasskey(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	secret := "" // of a person without a password, who would need none to add a passkey
	dan, link, err := w.People.Access.Add(t.Context(), "dan", access.PersonChange{Role: access.Owner}, time.Now())
	if err == nil {
		var c access.Client
		if c, _, err = w.People.Access.Claim(t.Context(), link, nil, "a browser"); err == nil {
			secret, err = w.People.Access.AddToken(t.Context(), c, "phone", access.Read, 0)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/account/passkeys/begin", "/account/passkeys"} {
		if a := w.form(t, path, url.Values{"label": {"Phone"}}, "Authorization", "Bearer "+secret, "Host", "localhost"); a.StatusCode != http.StatusForbidden || len(a.Cookies()) > 0 {
			t.Errorf("%s: got %d %s, want 403", path, a.StatusCode, a.body)
		}
	}
	if _, _, err := w.People.Access.Set(t.Context(), dan.Name, access.PersonChange{Revoke: true}); err != nil {
		t.Fatal(err)
	}
	if a := w.request(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+secret); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token of a revoked person: got %d, want 401", a.StatusCode)
	}
}

package oidc_test

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/access/oidc"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/tests/engines"
)

const (
	host     = "feeds.example"
	redirect = "http://" + host + oidc.CallbackPath
)

// started starts a provider.
func started(t *testing.T) *engines.OIDCProvider {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: it starts an OpenID provider")
	}
	p, err := engines.StartOIDCProvider(redirect)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED, NOT TESTED: oidc-provider is not installed; run just engines")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// An agent is one of the agents of a mesh.
type agent struct {
	*oidc.Provider
	people *access.People
}

func newAgent(store storage.Store, issuer string, role access.Role) agent {
	people := access.NewTokenStore(store, "", "").People
	people.Issuer = issuer
	return agent{oidc.New(oidc.Options{Issuer: issuer, ClientID: engines.OIDCClient, Secret: engines.OIDCSecret, Role: role}, people, access.NewSealer(store)), people}
}

// add adds a person.
func (a agent) add(t *testing.T, name string, change access.PersonChange) storage.Person {
	t.Helper()
	person, _, err := a.people.Add(t.Context(), name, change, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return person
}

func newOwner(t *testing.T, a agent, name string) storage.Person {
	t.Helper()
	secret := "correct horse battery"
	return a.add(t, name, access.PersonChange{Role: access.Owner, Password: &secret})
}

// request serves a request with a cookie, and returns the cookie of the answer.
func request(t *testing.T, path, cookie string, serve func(w http.ResponseWriter, r *http.Request)) string {
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
	r.Host = host
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	serve(w, r)
	if all := w.Result().Cookies(); len(all) == 1 {
		return all[0].Name + "=" + all[0].Value
	}
	return ""
}

// begin returns the address of the provider, and the cookie.
func (a agent) begin(t *testing.T) (address *url.URL, cookie string) {
	t.Helper()
	cookie = request(t, "/", "", func(w http.ResponseWriter, r *http.Request) {
		text, err := a.Begin(w, r, "/feeds")
		if err != nil {
			t.Fatal(err)
		}
		address, _ = url.Parse(text)
	})
	return address, cookie
}

// finish ends a login with the address to which the provider redirected.
func (a agent) finish(t *testing.T, callback *url.URL, cookie string) (c access.Client, err error) {
	t.Helper()
	request(t, callback.RequestURI(), cookie, func(w http.ResponseWriter, r *http.Request) {
		var secret, next string
		if c, secret, next, err = a.Finish(w, r); err == nil {
			_, err = a.people.Session(r.Context(), secret)
			if next != "/feeds" {
				t.Errorf("got the page %q", next)
			}
		}
	})
	return c, err
}

// visit logs in at the provider as a browser does, and returns the address to which it redirects.
func visit(t *testing.T, address *url.URL, login string) *url.URL {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	var callback *url.URL
	client := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == host {
			callback = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}}
	answer, err := client.Get(address.String())
	for _, form := range []url.Values{{"prompt": {"login"}, "login": {login}, "password": {"any"}}, {"prompt": {"consent"}}} {
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if callback != nil {
			break
		}
		answer, err = client.PostForm(answer.Request.URL.String(), form)
	}
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if callback == nil {
		t.Fatalf("the provider did not redirect from %v", answer.Request.URL)
	}
	return callback
}

func (a agent) login(t *testing.T, account string) (access.Client, error) {
	t.Helper()
	address, cookie := a.begin(t)
	return a.finish(t, visit(t, address, account), cookie)
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

func TestProvider_LogsInPeopleWhomAnOwnerAllowed(t *testing.T) {
	p, store := started(t), enginetest.Store(t)
	a, other := newAgent(store, p.Issuer, ""), newAgent(store, p.Issuer, "")
	newOwner(t, a, "ann")
	_, err := a.login(t, "1:ann")
	wantError(t, "takeover by name of a person with a password", err, access.ErrOtherAccount)
	_, err = a.login(t, "2:bob")
	wantError(t, "nobody", err, access.ErrNoAccount)

	if bob := a.add(t, "bob", access.PersonChange{Role: access.Editor, OIDC: true}); bob.Link != "" || bob.Hash != "" {
		t.Errorf("got %+v, want neither password nor link", bob)
	}
	address, cookie := a.begin(t)
	c, err := other.finish(t, visit(t, address, "2:Bob"), cookie)
	if err != nil || c.Name != "bob" || !c.May(access.Write) || c.May(access.Admin) {
		t.Fatalf("got %+v, %v; want the editor bob at another agent", c, err)
	}
	_, err = a.login(t, "3:bob")
	wantError(t, "another account of the name", err, access.ErrOtherAccount)
	if c, err := a.login(t, "2:Bob"); err != nil || c.Name != "bob" {
		t.Errorf("again: got %+v, %v", c, err)
	}
	if _, _, err := a.people.Set(t.Context(), "ann", access.PersonChange{OIDC: true}); err != nil {
		t.Fatal(err)
	}
	if c, err := a.login(t, "email-1:ann"); err != nil || c.Name != "ann" {
		t.Errorf("a verified address: got %+v, %v", c, err)
	}
	if _, _, err := a.people.Set(t.Context(), "bob", access.PersonChange{Revoke: true}); err != nil {
		t.Fatal(err)
	}
	_, err = a.login(t, "2:Bob")
	wantError(t, "revoked account", err, access.ErrOtherAccount)
}

func TestProvider_AddsPeopleWithTheRole(t *testing.T) {
	p, store := started(t), enginetest.Store(t)
	a := newAgent(store, p.Issuer, access.Reader)
	_, err := a.login(t, "1:first")
	wantError(t, "the first person", err, storage.ErrNoOwner)
	newOwner(t, a, "ann")
	for account, name := range map[string]string{"1:cid": "cid", "email-2:dan@example.org": "dan@example.org", "unverified-3:ann": "unverified-3:ann", "sub-4": "sub-4"} {
		if c, err := a.login(t, account); err != nil || c.Name != name || !c.May(access.Read) || c.May(access.Write) {
			t.Errorf("%s: got %+v, %v; want the reader %s", account, c, err, name)
		}
	}
	_, err = a.login(t, "5:ann")
	wantError(t, "takeover by name", err, access.ErrOtherAccount)
	_, err = a.login(t, "6:a/b")
	wantError(t, "a name that cannot be", err, access.ErrBadName)
}

func TestProvider_RefusesOtherAnswers(t *testing.T) {
	p, store := started(t), enginetest.Store(t)
	a := newAgent(store, p.Issuer, access.Reader)
	newOwner(t, a, "ann")
	for name, c := range map[string]struct {
		request func(q url.Values) // to the provider
		answer  func(q url.Values) // of the provider
		want    error
	}{
		"another state":    {answer: func(q url.Values) { q.Set("state", "x") }, want: oidc.ErrRefused},
		"no state":         {answer: func(q url.Values) { q.Del("state") }, want: oidc.ErrRefused},
		"another provider": {answer: func(q url.Values) { q.Set("iss", "https://evil.example") }, want: oidc.ErrRefused},
		"another code":     {answer: func(q url.Values) { q.Set("code", "x") }, want: oidc.ErrRefused},
		"another nonce":    {request: func(q url.Values) { q.Set("nonce", "x") }, want: oidc.ErrRefused},
		"no nonce":         {request: func(q url.Values) { q.Del("nonce") }, want: oidc.ErrRefused},
		"another verifier": {request: func(q url.Values) { q.Set("code_challenge", strings.Repeat("x", 43)) }, want: oidc.ErrRefused},
		"an error":         {answer: func(q url.Values) { q.Set("error", "access_denied") }, want: oidc.ErrRefused},
	} {
		address, cookie := a.begin(t)
		if c.request != nil {
			q := address.Query()
			c.request(q)
			address.RawQuery = q.Encode()
		}
		callback := visit(t, address, "1:cid")
		if c.answer != nil {
			q := callback.Query()
			c.answer(q)
			callback.RawQuery = q.Encode()
		}
		_, err := a.finish(t, callback, cookie)
		wantError(t, name, err, c.want)
	}
	address, cookie := a.begin(t)
	callback := visit(t, address, "1:cid")
	_, err := a.finish(t, callback, "")
	wantError(t, "no cookie", err, access.ErrExpired)
	_, err = a.finish(t, callback, cookie)
	wantError(t, "the cookie", err, nil)
	_, err = a.finish(t, callback, cookie)
	wantError(t, "a code that was used", err, oidc.ErrRefused)
}

func TestProvider_MayBeDown(t *testing.T) {
	p, store := started(t), enginetest.Store(t)
	a := newAgent(store, p.Issuer, access.Reader)
	newOwner(t, a, "ann")
	address, cookie := a.begin(t)
	callback := visit(t, address, "1:cid")
	p.Kill()
	_, err := a.finish(t, callback, cookie)
	wantError(t, "exchange of the code", err, oidc.ErrUnreachable)
	request(t, "/", "", func(w http.ResponseWriter, r *http.Request) {
		_, err = newAgent(store, p.Issuer, "").Begin(w, r, "/")
	})
	wantError(t, "begin", err, oidc.ErrUnreachable)
	if err := oidc.Check(t.Context(), p.Issuer); err == nil {
		t.Error("the check passes")
	}
	if _, _, _, err := a.people.Login(t.Context(), "ann", "correct horse battery", "192.0.2.1", ""); err != nil {
		t.Errorf("login with a password: %v", err)
	}
}

// A sealed state is valid for five minutes, and for its kind of login only.
func TestSealer_StatesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := access.NewSealer(enginetest.Store(t))
		cookie := request(t, "/", "", func(w http.ResponseWriter, r *http.Request) {
			if err := s.Set(w, r, "oidc", "state"); err != nil {
				t.Fatal(err)
			}
		})
		take := func(kind, cookie string) (state string, err error) {
			request(t, "/", cookie, func(w http.ResponseWriter, r *http.Request) { _, err = s.Take(w, r, kind, &state) })
			return state, err
		}
		if state, err := take("oidc", cookie); err != nil || state != "state" {
			t.Errorf("got %q, %v", state, err)
		}
		_, err := take("other", strings.Replace(cookie, "-oidc", "-other", 1))
		wantError(t, "another kind", err, access.ErrExpired)
		time.Sleep(access.LoginTimeout)
		_, err = take("oidc", cookie)
		wantError(t, "after five minutes", err, access.ErrExpired)
	})
}

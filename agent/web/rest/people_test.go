package rest

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
)

const password = "correct horse battery"

// withPeople adds an owner ann, an editor bob and a reader cid, each with the same password.
func withPeople(t *testing.T, change ...func(*setup)) *testbed {
	t.Helper()
	w := newTestbed(t, change...)
	for _, p := range []struct {
		name string
		role access.Role
	}{{"ann", access.Owner}, {"bob", access.Editor}, {"cid", access.Reader}} {
		w.addPerson(t, p.name, p.role)
	}
	return w
}

func (w *testbed) addPerson(t *testing.T, name string, role access.Role) {
	t.Helper()
	secret := password
	if _, err := w.People.Add(t.Context(), wire.AddPersonRequest{Body: wire.NewPerson{Name: name, Role: role, Password: &secret}}); err != nil {
		t.Fatal(err)
	}
}

// form sends a form of a page.
func (w *testbed) form(t *testing.T, path string, fields url.Values, headers ...string) answer {
	t.Helper()
	return w.request(t, "POST", path, fields.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

// login returns the header of the session cookie of a person.
func (w *testbed) login(t *testing.T, name string, headers ...string) string {
	t.Helper()
	a := w.form(t, "/login", url.Values{"name": {name}, "password": {password}}, headers...)
	if a.StatusCode != http.StatusSeeOther || len(a.Cookies()) != 1 {
		t.Fatalf("login of %s: got %d %s", name, a.StatusCode, a.body)
	}
	return a.Cookies()[0].Name + "=" + a.Cookies()[0].Value
}

func TestPeople_NoneKeepsThisMachineOpen(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	if a := w.request(t, "GET", "/", "", "Accept", "text/html"); a.StatusCode != 200 {
		t.Errorf("got %d, want 200", a.StatusCode)
	}
	w.addPerson(t, "ann", access.Owner)
	a := w.request(t, "GET", "/any/page?q=a+b", "", "Accept", "text/html")
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/login?next=%2Fany%2Fpage%3Fq%3Da%2Bb" {
		t.Errorf("got %d to %s, want the login", a.StatusCode, a.Header.Get("Location"))
	}
	w.request(t, "GET", "/api/feeds", "").isProblem(t, http.StatusUnauthorized, "a token is required")
	if a := w.request(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+w.secret(t, access.Read)); a.StatusCode != 200 {
		t.Errorf("with a token: got %d %s, want 200", a.StatusCode, a.body)
	}
	if a := w.request(t, "GET", "/api/feeds", "", "Sec-Fetch-Mode", "cors"); strings.Contains(a.Header.Get("WWW-Authenticate"), "Basic") {
		t.Error("a script of a page makes the browser prompt for a password")
	}
}

func TestPeople_LoginAndLogout(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	page := w.request(t, "GET", "/login?next=%2Ffeeds", "")
	if page.StatusCode != 200 || !strings.Contains(page.body, `value="/feeds"`) || page.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("got %d %s", page.StatusCode, page.body)
	}
	for next, want := range map[string]string{"": "/", "/feeds?q=a": "/feeds?q=a", "//evil.example": "/", "https://evil.example/": "/", `/\evil.example`: "/", "feeds": "/", "/\t/evil.example": "/"} {
		a := w.form(t, "/login", url.Values{"name": {"Ann"}, "password": {password}, "next": {next}})
		if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != want {
			t.Errorf("next %q: got %d to %s, want %s", next, a.StatusCode, a.Header.Get("Location"), want)
		}
	}
	a := w.form(t, "/login", url.Values{"name": {"ann"}, "password": {password}})
	c := a.Cookies()[0]
	if c.Name != "feedmesh" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Secure {
		t.Errorf("got the cookie %v", c)
	}
	cookie := c.Name + "=" + c.Value
	if a := w.request(t, "GET", "/api/feeds", "", "Cookie", cookie); a.StatusCode != 200 {
		t.Errorf("with the session: got %d %s, want 200", a.StatusCode, a.body)
	}
	w.form(t, "/logout", nil, "Cookie", cookie, "Origin", "https://evil.example").isProblem(t, http.StatusForbidden, "another site")
	w.request(t, "POST", "/api/reindex", "", "Cookie", cookie, "Sec-Fetch-Site", "same-site").isProblem(t, http.StatusForbidden, "another site")
	if a := w.form(t, "/logout", nil, "Cookie", cookie); a.StatusCode != http.StatusSeeOther || a.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: got %d %v", a.StatusCode, a.Cookies())
	}
	w.request(t, "GET", "/api/feeds", "", "Cookie", cookie).isProblem(t, http.StatusUnauthorized, "a token is required")
}

// Against session fixation, a login does not use the session of the browser, which ends.
func TestPeople_LoginBeginsAnotherSession(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	before := w.login(t, "ann")
	after := w.login(t, "ann", "Cookie", before)
	if before == after {
		t.Error("the login keeps the session")
	}
	w.request(t, "GET", "/api/feeds", "", "Cookie", before).isProblem(t, http.StatusUnauthorized, "a token is required")
	if a := w.request(t, "GET", "/api/feeds", "", "Cookie", after); a.StatusCode != 200 {
		t.Errorf("got %d, want 200", a.StatusCode)
	}
}

func TestPeople_WrongPasswordsAreThrottled(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	var a answer
	for i := range 3 * access.WrongTokens { // slow checks take so long that some more are allowed
		name := []string{"ann", "nobody", "", "\x00"}[i%4]
		a = w.form(t, "/login", url.Values{"name": {name}, "password": {"wrong password"}})
		if a.StatusCode == http.StatusTooManyRequests && i >= access.WrongTokens {
			break
		}
		if a.StatusCode != http.StatusUnauthorized || !strings.Contains(a.body, "The name or the password is wrong.") || len(a.Cookies()) > 0 {
			t.Fatalf("%q: got %d %s", name, a.StatusCode, a.body)
		}
	}
	if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" {
		t.Errorf("got %d %v, want 429", a.StatusCode, a.Header)
	}
	w.login(t, "ann") // delayed, not rejected
}

// The table of operations and the pages by role: the scope of each operation decides.
func TestPeople_Roles(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	scopes := map[string][]access.Scope{"ann": access.Scopes, "bob": {access.Search, access.Read, access.Write, access.Rules}, "cid": {access.Search, access.Read}}
	owner := w.secret(t, access.Admin)
	d := answerAs[struct {
		Paths map[string]map[string]guardedOperation
	}](t, w.request(t, "GET", "/openapi.json", "", "Authorization", "Bearer "+owner))
	table := scopeTable(w.server.routes())
	for name, has := range scopes {
		cookie := w.login(t, name)
		for path, methods := range d.Paths {
			for method, o := range methods {
				if o.OperationID == "watch-events" {
					continue
				}
				at := strings.NewReplacer("{id}", "none", "{seq}", "999", "{name}", "none").Replace(path)
				may := access.Client{Scopes: has}.May(table[o.OperationID])
				a := w.request(t, strings.ToUpper(method), at, "", "Cookie", cookie)
				if got := a.StatusCode != http.StatusForbidden && a.StatusCode != http.StatusUnauthorized; got != may {
					t.Errorf("%s as %s: got %d %s, want it served: %v", o.OperationID, name, a.StatusCode, a.body, may)
				}
			}
		}
		for path, needed := range map[string]access.Scope{"/read/marks": access.Read, "/feeds": access.Write, "/rules/classify": access.Rules, "/mesh/quarantine/3/replay": access.Admin, "/account/end": access.Read} {
			a := w.form(t, path, nil, "Cookie", cookie)
			if may := (access.Client{Scopes: has}).May(needed); a.StatusCode != http.StatusForbidden != may {
				t.Errorf("POST %s as %s: got %d, want it served: %v", path, name, a.StatusCode, may)
			}
		}
	}
}

func TestPeople_MarksAreTheirOwn(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	ann, again, bob := w.login(t, "ann"), w.login(t, "ann"), w.login(t, "bob")
	if a := w.request(t, "POST", "/api/reading/marks", `{"ids":["`+w.item+`"],"starred":true}`, "Cookie", ann); a.StatusCode != http.StatusNoContent {
		t.Fatalf("got %d %s, want 204", a.StatusCode, a.body)
	}
	reader := w.form(t, "/accounts/ClientLogin", url.Values{"Email": {"ann"}, "Passwd": {password}})
	_, auth, _ := strings.Cut(strings.TrimSpace(reader.body), "Auth=")
	if reader.StatusCode != 200 || !access.IsGenerated(auth) {
		t.Fatalf("login of a reader: got %d %s", reader.StatusCode, reader.body)
	}
	for who, c := range map[string]struct {
		header [2]string
		want   bool
	}{
		"ann": {[2]string{"Cookie", ann}, true}, "another session of ann": {[2]string{"Cookie", again}, true},
		"a reader of ann": {[2]string{"Authorization", "GoogleLogin auth=" + auth}, true}, "bob": {[2]string{"Cookie", bob}, false},
	} {
		a := w.request(t, "GET", "/api/reading?show=starred", "", c.header[0], c.header[1])
		if a.StatusCode != 200 || strings.Contains(a.body, w.item) != c.want {
			t.Errorf("%s: got %d %s, want the star: %v", who, a.StatusCode, a.body, c.want)
		}
	}
	if a := w.form(t, "/accounts/ClientLogin", url.Values{"Email": {"bob"}, "Passwd": {"wrong password"}}); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("got %d, want 401", a.StatusCode)
	}
}

func TestPeople_FirstPasswordByLink(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	made, err := w.People.Add(t.Context(), wire.AddPersonRequest{Body: wire.NewPerson{Name: "dan", Role: access.Reader}})
	if err != nil {
		t.Fatal(err)
	}
	link, _ := url.Parse(made.Link)
	secret := link.Query().Get("link")
	for range 2 { // a look does not use it
		if a := w.request(t, "GET", made.Link, ""); a.StatusCode != 200 || !strings.Contains(a.body, `value="dan"`) {
			t.Fatalf("got %d %s", a.StatusCode, a.body)
		}
	}
	for _, short := range []string{"", "short"} {
		if a := w.form(t, "/login/first", url.Values{"link": {secret}, "password": {short}}); a.StatusCode != http.StatusUnprocessableEntity || len(a.Cookies()) > 0 {
			t.Errorf("%q: got %d %v, want 422", short, a.StatusCode, a.Cookies())
		}
	}
	a := w.form(t, "/login/first", url.Values{"link": {secret}, "password": {password}})
	if a.StatusCode != http.StatusSeeOther || len(a.Cookies()) != 1 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	w.login(t, "dan")
	for _, other := range []string{secret, "", "fm_x_y", strings.Replace(secret, "fm_", "fm_x", 1)} {
		if a := w.form(t, "/login/first", url.Values{"link": {other}, "password": {password}}); a.StatusCode != http.StatusGone || len(a.Cookies()) > 0 {
			t.Errorf("%q: got %d, want 410", other, a.StatusCode)
		}
	}
}

func TestPeople_AccountChangesPasswordAndEndsSessions(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	here, other, third, bob := w.login(t, "ann"), w.login(t, "ann"), w.login(t, "ann"), w.login(t, "bob")
	page := w.request(t, "GET", "/account", "", "Cookie", here)
	if page.StatusCode != 200 || strings.Count(page.body, `name="session"`) != 3 || strings.Count(page.body, "(this one)") != 1 {
		t.Fatalf("got %d %s, want three sessions", page.StatusCode, page.body)
	}
	_, secret, _ := strings.Cut(third, "=")
	w.form(t, "/account/end", url.Values{"session": {access.Hash(secret)}}, "Cookie", bob) // another's session
	if a := w.request(t, "GET", "/api/feeds", "", "Cookie", third); a.StatusCode != 200 {
		t.Errorf("a person ends the session of another: got %d", a.StatusCode)
	}
	w.form(t, "/account/end", url.Values{"session": {access.Hash(secret)}}, "Cookie", here)
	w.request(t, "GET", "/api/feeds", "", "Cookie", third).isProblem(t, http.StatusUnauthorized, "")

	if a := w.form(t, "/account/password", url.Values{"password": {"wrong password"}, "new": {"another password"}}, "Cookie", here); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong password: got %d", a.StatusCode)
	}
	a := w.form(t, "/account/password", url.Values{"password": {password}, "new": {"another password"}}, "Cookie", here)
	if a.StatusCode != http.StatusSeeOther || len(a.Cookies()) != 1 {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	for _, ended := range []string{here, other} {
		w.request(t, "GET", "/api/feeds", "", "Cookie", ended).isProblem(t, http.StatusUnauthorized, "")
	}
	for _, valid := range []string{a.Cookies()[0].Name + "=" + a.Cookies()[0].Value, bob} {
		if a := w.request(t, "GET", "/api/feeds", "", "Cookie", valid); a.StatusCode != 200 {
			t.Errorf("got %d %s, want 200", a.StatusCode, a.body)
		}
	}
	if _, err := w.People.Remove(t.Context(), wire.ByName{Name: "bob"}); err != nil {
		t.Fatal(err)
	}
	w.request(t, "GET", "/api/feeds", "", "Cookie", bob).isProblem(t, http.StatusUnauthorized, "")
}

func TestPeople_HeaderIsBelievedOfTrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	header := func(d *setup) { d.PersonHeader = "Remote-User" }
	direct := withPeople(t, header)
	direct.request(t, "GET", "/api/feeds", "", "Remote-User", "ann").isProblem(t, http.StatusUnauthorized, "a token is required")
	direct.request(t, "GET", "/api/feeds", "", "Remote-User", "ann", "X-Forwarded-For", "192.0.2.1").isProblem(t, http.StatusForbidden, "not trusted")

	w := withPeople(t, header, withOwner, func(d *setup) { d.TrustedProxies = access.Proxies{netip.MustParsePrefix("127.0.0.0/8")} })
	through := func(headers ...string) answer {
		return w.request(t, "GET", "/account", "", append([]string{"X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https"}, headers...)...)
	}
	a := through("Remote-User", "Cid")
	if a.StatusCode != 200 || !strings.Contains(a.body, "cid") || strings.Contains(a.body, "Log out") {
		t.Errorf("got %d %s, want cid, whom no form logs out", a.StatusCode, a.body)
	}
	through("Remote-User", "nobody").isProblem(t, http.StatusForbidden, "no such person")
	through().isProblem(t, http.StatusUnauthorized, "a token is required")
	through("Remote-User", "").isProblem(t, http.StatusUnauthorized, "a token is required")
	cookie := w.login(t, "ann", "X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https")
	if !strings.HasPrefix(cookie, "__Host-feedmesh=") {
		t.Errorf("got the cookie %s, want one for TLS only", cookie)
	}
	if a := through("Cookie", cookie, "Remote-User", "bob"); !strings.Contains(a.body, "Account of <bdi>bob") {
		t.Errorf("got %s, want the person whom the proxy names", a.body)
	}
	if a := through("Cookie", cookie); !strings.Contains(a.body, "Account of <bdi>ann") {
		t.Errorf("got %s, want the person of the session", a.body)
	}
}

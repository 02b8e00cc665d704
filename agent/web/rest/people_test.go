package rest

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/web"
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
				at := strings.NewReplacer("{id}", "none", "{seq}", "999", "{name}", "none", "{kind}", "topic", "{value}", "none").Replace(path)
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

// made returns the secret or the link that a page shows once.
func (a answer) made(t *testing.T) string {
	t.Helper()
	_, rest, is := strings.Cut(a.body, `id="secret" class="secret" type="text" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	if a.StatusCode != 200 || !is || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %s, want a secret that nothing on the way keeps", a.StatusCode, a.body)
	}
	return html.UnescapeString(value)
}

func TestPeople_TokensActForThePerson(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	cid, bob := w.login(t, "cid"), w.login(t, "bob")
	add := func(name, scope string) answer {
		return w.form(t, "/account/tokens", url.Values{"name": {name}, "scope": {scope}, "days": {"30"}}, "Cookie", cid)
	}
	for status, a := range map[int]answer{http.StatusForbidden: add("phone", "write"), http.StatusUnprocessableEntity: add(" ", "read")} {
		if a.StatusCode != status || !strings.Contains(a.body, `role="alert"`) {
			t.Errorf("got %d %s, want %d", a.StatusCode, a.body, status)
		}
	}
	secret := add("<phone>", "read").made(t)
	bearer := []string{"Authorization", "Bearer " + secret}
	if a := w.request(t, "POST", "/api/reading/marks", `{"ids":["`+w.item+`"],"starred":true}`, bearer...); a.StatusCode != http.StatusNoContent {
		t.Fatalf("got %d %s, want 204", a.StatusCode, a.body)
	}
	if a := w.request(t, "GET", "/api/reading?show=starred", "", "Cookie", cid); !strings.Contains(a.body, w.item) {
		t.Errorf("got %s, want the star of the program", a.body)
	}
	w.request(t, "POST", "/api/feeds/"+w.feed+"/refresh", "", bearer...).isProblem(t, http.StatusForbidden, `the token "<phone>" of cid lacks the scope write`)
	if a := w.form(t, "/account/tokens", url.Values{"name": {"more"}, "scope": {"read"}}, bearer...); a.StatusCode != http.StatusConflict {
		t.Errorf("a token makes another: got %d", a.StatusCode)
	}
	reader := w.form(t, "/accounts/ClientLogin", url.Values{"Email": {"cid"}, "Passwd": {secret}})
	_, auth, _ := strings.Cut(strings.TrimSpace(reader.body), "Auth=")
	if a := w.request(t, "GET", "/reader/api/0/user-info", "", "Authorization", "GoogleLogin auth="+auth); reader.StatusCode != 200 || !strings.Contains(a.body, `"userName":"cid"`) {
		t.Errorf("login of a reader: got %d %s, then %s", reader.StatusCode, reader.body, a.body)
	}
	page := w.request(t, "GET", "/account/tokens", "", "Cookie", cid)
	if !strings.Contains(page.body, "&lt;phone&gt;") || strings.Contains(page.body, secret) {
		t.Errorf("got %s, want the token without its secret", page.body)
	}
	remove := url.Values{"token": {access.Hash(secret)}}
	w.form(t, "/account/tokens/remove", remove, "Cookie", bob) // not his
	if a := w.request(t, "GET", "/api/feeds", "", bearer...); a.StatusCode != 200 {
		t.Errorf("a person removes the token of another: got %d", a.StatusCode)
	}
	w.form(t, "/account/tokens/remove", remove, "Cookie", cid)
	w.request(t, "GET", "/api/feeds", "", bearer...).isProblem(t, http.StatusUnauthorized, "a token is required")
}

func TestPeople_OwnersManagePeopleAndTokens(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	ann := w.login(t, "ann")
	link := w.form(t, "/people", url.Values{"name": {"Dan"}, "role": {"editor"}}, "Cookie", ann).made(t)
	if path, is := strings.CutPrefix(link, w.URL); !is || w.request(t, "GET", path, "").StatusCode != 200 {
		t.Errorf("got the link %s, want one of %s that is valid", link, w.URL)
	}
	if again := w.form(t, "/people/link", url.Values{"name": {"dan"}}, "Cookie", ann).made(t); again == link {
		t.Error("a new link is the old one")
	}
	for _, c := range []struct {
		path   string
		fields url.Values
		status int
		text   string
	}{
		{"/people", url.Values{"name": {"dan"}, "role": {"reader"}}, http.StatusConflict, "there is a person of this name already"},
		{"/people", url.Values{"name": {"a b"}, "role": {"reader"}}, http.StatusUnprocessableEntity, "without spaces"},
		{"/people/role", url.Values{"name": {"ann"}, "role": {"reader"}}, http.StatusConflict, "make another person an owner first"},
		{"/people/role", url.Values{"name": {"none"}, "role": {"reader"}}, http.StatusNotFound, "has been removed"},
		{"/people/role", url.Values{"name": {"dan"}, "role": {"root"}}, http.StatusSeeOther, ""},
		{"/people/role", url.Values{"name": {"dan"}, "role": {"reader"}}, http.StatusSeeOther, ""},
		{"/people/remove", url.Values{"name": {"bob"}}, http.StatusSeeOther, ""},
		{"/tokens", url.Values{"name": {""}, "scope": {"read"}}, http.StatusUnprocessableEntity, "the token is wrong"},
		{"/tokens/remove", url.Values{"token": {"none"}}, http.StatusNotFound, "has been removed"},
	} {
		if a := w.form(t, c.path, c.fields, "Cookie", ann); a.StatusCode != c.status || !strings.Contains(a.body, c.text) {
			t.Errorf("%s %v: got %d %s, want %d with %q", c.path, c.fields, a.StatusCode, a.body, c.status, c.text)
		}
	}
	page := w.request(t, "GET", "/people", "", "Cookie", ann)
	for name, want := range map[string]bool{"ann": true, "bob": false, "cid": true, "dan": true} {
		if strings.Contains(page.body, `value="`+name+`"`) != want {
			t.Errorf("%s is listed: %v", name, !want)
		}
	}
	people := answerAs[wire.People](t, w.request(t, "GET", "/api/people", "", "Cookie", ann)).People
	if len(people) != 3 || people[0].Sessions != 1 || people[0].Used.IsZero() || people[2].Role != access.Reader || people[2].Sessions != 0 {
		t.Errorf("got %+v, want the numbers of sessions, and dan as reader", people)
	}
	secret := w.form(t, "/tokens", url.Values{"name": {"site"}, "scope": {"search"}}, "Cookie", ann).made(t)
	if a := w.request(t, "GET", "/api/search", "", "Authorization", "Bearer "+secret); a.StatusCode != 200 {
		t.Errorf("with the token: got %d %s", a.StatusCode, a.body)
	}
	made := answerAs[wire.Tokens](t, w.request(t, "GET", "/api/tokens", "", "Cookie", ann)).Tokens
	if len(made) != 1 || !strings.Contains(w.request(t, "GET", "/tokens", "", "Cookie", ann).body, made[0].ID) {
		t.Fatalf("got %+v, want the token, also on the page", made)
	}
	w.form(t, "/tokens/remove", url.Values{"token": {made[0].ID}}, "Cookie", ann)
	w.request(t, "GET", "/api/search", "", "Authorization", "Bearer "+secret).isProblem(t, http.StatusUnauthorized, "")
}

// Browsers get pages, programs get JSON.
func TestGuard_DenialsAsPages(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	cid, text := w.login(t, "cid"), []string{"Accept", "text/html,*/*;q=0.8"}
	for _, c := range []struct {
		method, path string
		status       int
		text         string
	}{
		{"GET", "/people", http.StatusForbidden, "Your role reader can&#39;t manage people, tokens and the mesh; an owner can."},
		{"POST", "/feeds", http.StatusForbidden, "Your role reader can&#39;t change feeds, items and stories; an owner or an editor can."},
		{"POST", "/rules/classify", http.StatusForbidden, "Your role reader can&#39;t change rules; an owner or an editor can."},
	} {
		a := w.request(t, c.method, c.path, "", append(text, "Cookie", cid)...)
		if a.StatusCode != c.status || !strings.Contains(a.body, c.text) || !strings.Contains(a.body, `aria-label="Main"`) || a.Header.Get("Cache-Control") != "no-store" ||
			!strings.Contains(a.Header.Get("Content-Security-Policy"), "style-src 'self'") {
			t.Errorf("%s %s: got %d %v %s, want a page with %q", c.method, c.path, a.StatusCode, a.Header, a.body, c.text)
		}
		w.request(t, c.method, c.path, "", "Cookie", cid).isProblem(t, c.status, "the role of cid lacks the scope")
	}
	w.request(t, "POST", "/api/reindex", "", append(text, "Cookie", cid)...).isProblem(t, http.StatusForbidden, "lacks the scope")
	foreign := w.form(t, "/logout", nil, append(text, "Cookie", cid, "Origin", "https://evil.example")...)
	if foreign.StatusCode != http.StatusForbidden || !strings.Contains(foreign.body, "<p>The request comes from a page of another site.</p>") {
		t.Errorf("got %d %s", foreign.StatusCode, foreign.body)
	}

	w = newTestbed(t, withOwner, func(d *setup) { d.Store = awayTokens{d.Store} })
	if a := w.request(t, "GET", "/", "", text...); a.StatusCode != http.StatusUnauthorized || a.Header.Get("Www-Authenticate") == "" || !strings.Contains(a.body, "<h1>A token is required</h1>") || strings.Contains(a.body, `aria-label="Main"`) {
		t.Errorf("without a token: got %d %v %s, want a page without menu and status", a.StatusCode, a.Header, a.body)
	}
	if a := w.request(t, "GET", "/", "", append(text, "Authorization", "Bearer fm_x")...); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(a.body, "Retry in a minute.") {
		t.Errorf("without the store: got %d %s", a.StatusCode, a.body)
	}
	for i := range access.WrongTokens + 1 {
		a := w.request(t, "GET", "/", "", append(text, "Authorization", fmt.Sprint("Bearer guess", i))...)
		if i == access.WrongTokens && (a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" || !strings.Contains(a.body, "<h1>Too many requests</h1>")) {
			t.Errorf("too many guesses: got %d %v %s", a.StatusCode, a.Header, a.body)
		}
	}
}

var forms = regexp.MustCompile(`<form[^>]*method="post"[^>]*>`)

// The pages that a person sees contain no form that the person may not send.
func TestPeople_PagesHaveNoFormsThatTheRoleLacks(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	server := httptest.NewServer(w.server.Handler(web.Mounts(w.Service, web.Logins{Reader: w.server.Login, Fever: w.server.FeverLogin}, nil)))
	defer server.Close()
	w.Server.URL = server.URL
	seen := map[string]int{}
	for name, may := range map[string]func(access.Scope) bool{"ann": access.Owner.May, "bob": access.Editor.May, "cid": access.Reader.May} {
		cookie := w.login(t, name)
		for _, path := range []string{
			"/", "/?q=released", "/read?show=all", "/read?show=all&open=" + w.item, "/items/" + w.item, "/stories", "/feeds", "/feeds/" + w.feed, "/imports",
			"/rules", "/rules/classify", "/spam", "/mesh", "/views", "/views/edit", "/briefing", "/statistics", "/help", "/account", "/account/tokens",
		} {
			a := w.request(t, "GET", path, "", "Cookie", cookie)
			if a.StatusCode != 200 {
				t.Errorf("%s as %s: got %d", path, name, a.StatusCode)
			}
			for _, form := range forms.FindAllString(a.body, -1) {
				_, action, _ := strings.Cut(form, `action="`)
				action, _, _ = strings.Cut(action, `"`)
				if slices.Contains(web.Public(), action) { // the choice of a language, also of clients that have not logged in
					continue
				}
				needed := (&guard{}).requiredScope(httptest.NewRequest("POST", action, nil), "/")
				if seen[name]++; !may(needed) {
					t.Errorf("%s as %s has %s", path, name, form)
				}
			}
		}
	}
	for _, cookie := range []string{"", w.login(t, "cid")} {
		if a := w.form(t, "/language", url.Values{"language": {"ru"}, "back": {"/login"}}, "Cookie", cookie); a.StatusCode != http.StatusSeeOther || len(a.Cookies()) != 1 {
			t.Errorf("a language is chosen: got %d %v", a.StatusCode, a.Header)
		}
	}
	if seen["ann"] <= seen["bob"] || seen["bob"] <= seen["cid"] {
		t.Errorf("got %v forms, want the most for the owner", seen)
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

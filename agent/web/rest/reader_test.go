package rest

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const readingList = "/reader/api/0/stream/items/ids?output=json&s=user/-/state/com.google/reading-list"

func TestReader_LoginWithToken(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, func(d *setup) { d.Token = "the owner's secret" })
	login := func(password string) answer {
		return w.request(t, "POST", "/accounts/ClientLogin", "Email=me&Passwd="+strings.ReplaceAll(password, " ", "+"), "Content-Type", "application/x-www-form-urlencoded")
	}
	_, reader, err := w.server.Tokens.TokenStore.Create(t.Context(), "phone", []access.Scope{access.Read}, now)
	if err != nil {
		t.Fatal(err)
	}
	_, searcher, err := w.server.Tokens.TokenStore.Create(t.Context(), "site", []access.Scope{access.Search}, now)
	if err != nil {
		t.Fatal(err)
	}
	if a := login(searcher); a.StatusCode != 403 {
		t.Errorf("client with scope search: got %d %s", a.StatusCode, a.body)
	}
	if a := login("wrong"); a.StatusCode != 401 || strings.Contains(a.body, "wrong") {
		t.Errorf("a wrong one: got %d %s", a.StatusCode, a.body)
	}
	for _, secret := range []string{reader, "the owner's secret"} {
		a := login(secret)
		_, auth, _ := strings.Cut(a.body, "\nAuth=")
		if a.StatusCode != 200 {
			t.Fatalf("got %d %s", a.StatusCode, a.body)
		}
		got := w.request(t, "GET", readingList, "", "Authorization", "GoogleLogin auth="+strings.TrimSpace(auth))
		if got.StatusCode != 200 || strings.Count(got.body, `"id"`) != 2 {
			t.Errorf("got %d %s", got.StatusCode, got.body)
		}
	}
	if a := w.request(t, "GET", readingList, ""); a.StatusCode != 401 {
		t.Errorf("without one: got %d", a.StatusCode)
	}
	// Subscriptions take a token that may change feeds.
	for secret, want := range map[string]int{reader: 403, "the owner's secret": 200} {
		a := w.request(t, "POST", "/reader/api/0/subscription/edit", "ac=subscribe&s=feed/https://new.example/f&a=user/-/label/x",
			"Authorization", "GoogleLogin auth="+secret, "Content-Type", "application/x-www-form-urlencoded")
		if a.StatusCode != want {
			t.Errorf("got %d %s, want %d", a.StatusCode, a.body, want)
		}
	}
}

func TestReader_LoopbackLogin(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	a := w.request(t, "POST", "/accounts/ClientLogin", "Email=me&Passwd=any", "Content-Type", "application/x-www-form-urlencoded")
	if a.StatusCode != 200 || !strings.Contains(a.body, "Auth=local\n") {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
	got := w.request(t, "GET", readingList, "", "Authorization", "GoogleLogin auth=local")
	if got.StatusCode != 200 || strings.Count(got.body, `"id"`) != 2 {
		t.Errorf("got %d %s", got.StatusCode, got.body)
	}
	elsewhere := w.request(t, "POST", "/accounts/ClientLogin", "Email=me&Passwd=any", "Content-Type", "application/x-www-form-urlencoded", "Host", "feedmesh.example")
	if elsewhere.StatusCode == 200 {
		t.Errorf("under another name: got %d %s", elsewhere.StatusCode, elsewhere.body)
	}
	unsubscribed := w.request(t, "POST", "/reader/api/0/subscription/edit", "ac=unsubscribe&s=feed/"+w.feed, "Content-Type", "application/x-www-form-urlencoded")
	if unsubscribed.body != "OK" {
		t.Errorf("got %d %s", unsubscribed.StatusCode, unsubscribed.body)
	}
	if export := w.request(t, "GET", "/reader/api/0/subscription/export", ""); !strings.Contains(export.body, "https://b.example/") || strings.Contains(export.body, feedURL) {
		t.Errorf("got %d %s", export.StatusCode, export.body)
	}
}

// fever sends a request with a key of the Fever API, and returns the answer.
func (w *testbed) fever(t *testing.T, query, key string, headers ...string) answer {
	t.Helper()
	return w.form(t, "/fever/?api&"+query, url.Values{"api_key": {key}}, headers...)
}

// feverKey returns the key of a name and a password.
func feverKey(name, password string) string {
	sum := md5.Sum([]byte(name + ":" + password))
	return hex.EncodeToString(sum[:])
}

const feverDenied = `{"api_version":3,"auth":0}`

func TestFever_PasswordOfAPerson(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	cookie := w.login(t, "cid")
	if page := w.request(t, "GET", "/account", "", "Cookie", cookie); !strings.Contains(page.body, "Generate password") || strings.Contains(page.body, "Remove password") {
		t.Errorf("before: got %s", page.body)
	}
	page := w.form(t, "/account/fever", nil, "Cookie", cookie)
	_, rest, _ := strings.Cut(page.body, "the name <code>cid</code> and the password <code>")
	secret, _, found := strings.Cut(rest, "</code>")
	if page.StatusCode != 200 || !found || len(secret) < 26 || page.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %s, want the password", page.StatusCode, page.body)
	}
	key := feverKey("cid", secret)
	if a := w.fever(t, "unread_item_ids", key); a.StatusCode != 200 || !strings.Contains(a.body, `"auth":1`) || !strings.Contains(a.body, `"unread_item_ids":"`) {
		t.Errorf("got %d %s, want the unread items", a.StatusCode, a.body)
	}
	again := w.request(t, "GET", "/account", "", "Cookie", cookie)
	if strings.Contains(again.body, secret) || !strings.Contains(again.body, "Replace password") || !strings.Contains(again.body, ", used ") {
		t.Errorf("got %s, want the password used and not shown", again.body)
	}
	for _, wrong := range []string{"", "x", feverKey("cid", password), feverKey("ann", secret), secret} {
		if a := w.fever(t, "groups", wrong); a.StatusCode != 200 || strings.TrimSpace(a.body) != feverDenied {
			t.Errorf("%q: got %d %s, want no access", wrong, a.StatusCode, a.body)
		}
	}
	// Neither the key nor the password opens anything else.
	for _, wrong := range []string{key, secret} {
		if a := w.request(t, "GET", "/api/feeds", "", "Authorization", "Bearer "+wrong); a.StatusCode != 401 {
			t.Errorf("got %d, want 401", a.StatusCode)
		}
	}
	if a := w.form(t, "/account/fever/remove", nil, "Cookie", cookie); a.StatusCode != 303 {
		t.Errorf("remove: got %d %s", a.StatusCode, a.body)
	}
	if a := w.fever(t, "", key); strings.TrimSpace(a.body) != feverDenied {
		t.Errorf("a removed password: got %s", a.body)
	}
}

func TestFever_EndsWithPasswordPersonAndToken(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	generate := func(headers ...string) string {
		t.Helper()
		a := w.request(t, "POST", "/api/fever", "", headers...)
		var made wire.FeverPassword
		if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.StatusCode != 201 || made.Password == "" {
			t.Fatalf("got %d %s, %v", a.StatusCode, a.body, err)
		}
		return feverKey(made.Name, made.Password)
	}
	wants := func(what, key string, want bool) {
		t.Helper()
		if a := w.fever(t, "", key); strings.Contains(a.body, `"auth":1`) != want {
			t.Errorf("%s: got %s, want access: %v", what, a.body, want)
		}
	}
	bob, cid := generate("Cookie", w.login(t, "bob")), generate("Cookie", w.login(t, "cid"))
	old := generate("Cookie", w.login(t, "ann"))
	ann := generate("Cookie", w.login(t, "ann"))
	token, secret, err := w.server.Tokens.TokenStore.Create(t.Context(), "phone", []access.Scope{access.Read}, now)
	if err != nil {
		t.Fatal(err)
	}
	phone := generate("Authorization", "Bearer "+secret)
	wants("replaced", old, false)
	for name, key := range map[string]string{"bob": bob, "cid": cid, "ann": ann, "phone": phone, "in capitals": strings.ToUpper(ann)} {
		wants(name, key, true)
	}
	other := "another " + password
	if _, err := w.People.Set(t.Context(), wire.SetPersonRequest{ByName: wire.ByName{Name: "bob"}, Body: wire.PersonSetting{Password: &other}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.People.Remove(t.Context(), wire.ByName{Name: "cid"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Tokens.Remove(t.Context(), wire.ByID{ID: token.ID}); err != nil {
		t.Fatal(err)
	}
	wants("another password", bob, false)
	wants("a removed person", cid, false)
	wants("a removed token", phone, false)
	wants("ann", ann, true)
	left, err := storage.FeverKeys(w.Store).List(t.Context())
	if err != nil || len(left) != 2 {
		t.Errorf("got %+v, %v; want those of ann and bob", left, err)
	}
}

func TestFever_WrongKeysAreLimited(t *testing.T) {
	t.Parallel()
	w := withPeople(t)
	for range access.WrongTokens {
		if a := w.fever(t, "", feverKey("ann", "guess")); a.StatusCode != 200 {
			t.Fatalf("got %d %s", a.StatusCode, a.body)
		}
	}
	if a := w.fever(t, "", feverKey("ann", "guess")); a.StatusCode != 429 || a.Header.Get("Retry-After") == "" || strings.TrimSpace(a.body) != feverDenied {
		t.Errorf("got %d %s, want 429", a.StatusCode, a.body)
	}
}

func TestFever_Loopback(t *testing.T) {
	t.Parallel()
	w := newTestbed(t)
	if a := w.fever(t, "unread_item_ids", "any"); a.StatusCode != 200 || !strings.Contains(a.body, `"auth":1`) {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
	if a := w.fever(t, "unread_item_ids", "any", "Host", "feedmesh.example"); strings.TrimSpace(a.body) != feverDenied {
		t.Errorf("under another name: got %d %s", a.StatusCode, a.body)
	}
	if a := w.fever(t, "unread_item_ids", "any", "Sec-Fetch-Site", "cross-site"); a.StatusCode != 403 {
		t.Errorf("from another site: got %d %s", a.StatusCode, a.body)
	}
}

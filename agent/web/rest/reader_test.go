package rest

import (
	"strings"
	"testing"

	"feedmesh/agent/access"
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

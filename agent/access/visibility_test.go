package access_test

import (
	"net/http/httptest"
	"testing"

	"feedmesh/agent/access"
)

func TestFromRequest_AuthorizationSchemes(t *testing.T) {
	for header, want := range map[string]string{
		"Bearer s3cret": "s3cret", "bearer s3cret": "s3cret", "Basic OnMzY3JldA==": "s3cret", "basic YW5uOnMzY3JldA==": "s3cret",
		"GoogleLogin auth=s3cret": "s3cret", "googlelogin  auth=s3cret": "s3cret", "Bearer a b": "a b",
		// Present but malformed.
		"Bearer": "", "Bearer ": "", "Basic s3cret": "", "Basic": "", "s3cret": "", "Token s3cret": "", "GoogleLogin s3cret": "", "GoogleLogin auth=": "",
		"Basic czNjcmV0": "", "Digest username=s3cret": "",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", header)
		if got, is := access.FromRequest(r); got != want || !is {
			t.Errorf("%q: got %q, %v; want %q, true", header, got, is, want)
		}
	}
	if got, is := access.FromRequest(httptest.NewRequest("GET", "/?token=s3cret", nil)); is {
		t.Errorf("without a header: got %q, want nothing", got)
	}
}

func TestAddress_GroupsIPv6Prefix(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1:1234": "192.0.2.1", "[::ffff:192.0.2.1]:1": "::ffff:192.0.2.1", "[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64",
		"[2001:db8:1:2::9]:9": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64", "[::1]:1": "::/64", "pipe": "pipe", "host:1": "host",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = from
		if got := access.Address(r); got != want {
			t.Errorf("%s: got %s, want %s", from, got, want)
		}
	}
}

func TestScope_IncludesLowerScopes(t *testing.T) {
	for i, has := range access.Scopes {
		for j, needed := range access.Scopes {
			if got := (access.Client{Scopes: []access.Scope{has}}).May(needed); got != (j <= i) {
				t.Errorf("scope %s includes %s: got %v", has, needed, got)
			}
		}
	}
	for _, c := range []access.Client{{}, {Scopes: []access.Scope{"", "root", "ADMIN"}}} {
		for _, needed := range append(access.Scopes, "", "root") {
			if c.May(needed) {
				t.Errorf("%+v has the scope %q", c, needed)
			}
		}
	}
	if access.From(t.Context()).May(access.Search) || !access.From(access.With(t.Context(), access.Local())).May(access.Admin) {
		t.Error("the scopes of a client in a context are wrong")
	}
}

func TestClientKey_PublicTokenByAddress(t *testing.T) {
	public := access.Client{ID: "t", Scopes: []access.Scope{access.Search}}
	if public.Key("a") == public.Key("b") || public.Key("a") == (access.Client{ID: "u", Scopes: public.Scopes}).Key("a") {
		t.Error("two readers of a public page share a limit")
	}
	if own := (access.Client{ID: "t", Scopes: []access.Scope{access.Read}}); own.Key("a") != own.Key("b") {
		t.Error("a private token has a limit per address")
	}
	if (access.Client{}).Key("a") == (access.Client{}).Key("b") {
		t.Error("clients without tokens share a limit")
	}
}

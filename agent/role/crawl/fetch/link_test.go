package fetch

import (
	"net/http"
	"strings"
	"testing"
)

func TestDocument_HubAndSelfComeFromLinkHeaders(t *testing.T) {
	long := "https://a.test/" + strings.Repeat("x", maxLink)
	for name, c := range map[string]struct {
		links     []string
		hub, self string
	}{
		"none":            {},
		"two headers":     {links: []string{`<https://hub.test/>; rel="hub"`, `<https://a.test/feed>; rel="self"`}, hub: "https://hub.test/", self: "https://a.test/feed"},
		"one header":      {links: []string{`<https://hub.test/?a=1,2;b>; rel=hub, <https://a.test/feed>;type="a,b";REL=Self`}, hub: "https://hub.test/?a=1,2;b", self: "https://a.test/feed"},
		"several":         {links: []string{`<https://one.test/>; rel=hub, <https://two.test/>; rel=hub`}, hub: "https://one.test/"},
		"many relations":  {links: []string{`<https://a.test/>; rel="alternate hub self"`}, hub: "https://a.test/", self: "https://a.test/"},
		"first rel only":  {links: []string{`<https://a.test/>; rel=next; rel=hub`}},
		"quoted":          {links: []string{`<https://a.test/>; title="a \", <https://b.test/>"; rel=hub`}, hub: "https://a.test/"},
		"other relations": {links: []string{`<https://a.test/>; rel=hubs, <https://b.test/>; rev=hub, <https://c.test/>`}},
		"no web address":  {links: []string{`<mailto:a@b>; rel=hub, <javascript:x>; rel=self, <%zz>; rel=hub, <https://hub.test/>; rel=hub`}, hub: "https://hub.test/"},
		"too long":        {links: []string{"<" + long + ">; rel=hub"}},
		"user":            {links: []string{`<https://user:s3cret@hub.test/>; rel=hub`}, hub: "https://hub.test/"},
		"damaged":         {links: []string{`https://a.test/; rel=hub`, `<https://a.test/; rel=hub`, `;;,,rel=hub`}},
	} {
		address := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Link"] = c.links
			w.Write([]byte("a feed"))
		})
		d := get(t, client(t), Request{URL: address})
		if d.Hub != c.hub || d.Self != c.self {
			t.Errorf("%s: got hub %q and self %q, want %q and %q", name, d.Hub, d.Self, c.hub, c.self)
		}
	}
}

func TestLinkTarget_ResolvesAgainstTheFinalAddress(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new/feed", http.StatusFound)
			return
		}
		w.Header().Set("Link", `<../hub>; rel=hub, <>; rel=self`)
		w.Write([]byte("a feed"))
	})
	d := get(t, client(t), Request{URL: address + "/old"})
	if d.Hub != address+"/hub" || d.Self != address+"/new/feed" {
		t.Errorf("got hub %q and self %q, want them on %s", d.Hub, d.Self, address)
	}
}

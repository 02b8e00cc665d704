package browser

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/config"
)

// A page of another site contains the tag that the widget page makes.
func TestWidget_ShowsEntriesOnAnotherSite(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a node and a browser")
	}
	tag := ""
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte("<!DOCTYPE html><html lang=en><title>A site</title><link rel=icon href=data:,><h1>A site</h1>" + tag + "</html>"))
	}))
	t.Cleanup(site.Close)
	w, err := newTestbed(servePublishers(publishers), "Newsroom", func(c *config.Config) { c.CORS = []string{site.URL} })
	if err != nil {
		t.Fatal(err)
	}
	token, err := client.Call(t.Context(), w.Client, wire.AddToken, wire.AddTokenRequest{Body: wire.TokenSetting{Name: "site", Scopes: []access.Scope{access.Search}}})
	if err != nil {
		t.Fatal(err)
	}
	const shown = `document.querySelector("script[data-output] + div")?.shadowRoot.querySelectorAll("li a[href^=http]").length`
	b := openAt(t, w.address)
	b.visit("/widget?output=" + query("/outputs/search.json?q=postgresql") + "&entries=3&theme=dark")
	b.until("the preview lists entries", shown+" == 3")
	b.picture("widget-preview")
	if !evaluate[bool](b, "document.body.innerText.includes("+quote("may show it: "+site.URL)+")") {
		t.Error("the page does not list the site that may show the widget")
	}
	tag = strings.Replace(evaluate[string](b, `document.querySelector("#tag").value`), "YOUR-TOKEN", token.Secret, 1)

	there := openAt(t, site.URL)
	there.also = w.address + "/"
	there.visit("/")
	there.until("the site lists entries", shown+" == 3")
	there.picture("widget-site")
}

package rest_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/service"
	"feedmesh/agent/web"
	"feedmesh/agent/web/rest"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

// elsewheres are addresses of another site, as those who look for a way there
// write them.
var elsewheres = []string{
	"https://evil.example", "//evil.example", "///evil.example", "////evil.example", `/\evil.example`, `\\evil.example`, `\/evil.example`, "/\t/evil.example",
	"\t//evil.example", "/\n/evil.example", "//evil%2eexample", "/%2fevil.example", "/%5cevil.example", "%2f%2fevil.example", "%5c%5cevil.example", "//evil.example/%2e%2e",
	"/..//evil.example", "/.//evil.example", "..//evil.example", "./https:evil.example", "https:evil.example", "https:/evil.example", "javascript:alert(1)", "data:text/html,x",
	"//user@evil.example", "/feeds@evil.example", "?//evil.example", "#//evil.example", "/spam/../..//evil.example", "/spam?x\r\nLocation: //evil.example", "//[::1]",
	"//evil.example:80", "/;//evil.example", ".evil.example", "@evil.example", ":evil.example", "/%09/evil.example", "/%0d%0aLocation:%20//evil.example", "//%65vil.example", "／／evil.example",
}

// staysHere reports whether a browser that is sent there stays at this site.
func staysHere(to, site string) bool {
	base, _ := url.Parse(site)
	there, err := base.Parse(strings.ReplaceAll(to, `\`, "/")) // as browsers read it
	return err == nil && there.Host == base.Host && there.Scheme == base.Scheme && !strings.ContainsAny(to, "\t\r\n")
}

func TestRedirects_StayOnSite(t *testing.T) {
	l := newLiving(t)
	answers := service.New(service.Deps{Store: l.store, Index: enginetest.Index(t), Mesh: l.mesh, Fetcher: nowhere{}, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	server := rest.New(answers, rest.Options{Metrics: http.NotFoundHandler()})
	here := httptest.NewServer(server.Handler(web.Mounts(answers, web.Logins{Reader: server.Login, Fever: server.FeverLogin}, server.CORSOrigins)))
	t.Cleanup(here.Close)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	sent := 0
	ask := func(method, path string, form url.Values) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, here.URL, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Opaque = path // as it is written, not as it should be
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := client.Do(r)
		if err != nil {
			return // the client won't send it
		}
		resp.Body.Close()
		to := resp.Header.Get("Location")
		if to == "" {
			return
		}
		if sent++; !staysHere(to, here.URL) {
			t.Errorf("%s %s with %v sends to %q", method, path, form, to)
		}
	}
	item := l.someItem(t)
	for _, evil := range elsewheres {
		form := url.Values{}
		for _, name := range []string{"back", "next", "to", "url", "item", "id", "name", "story", "event", "feed", "q", "text", "note", "do"} {
			form.Set(name, evil)
		}
		for _, path := range []string{
			"/feeds", "/feeds/find", "/feeds/bulk", "/feeds/X/refresh", "/feeds/X/settings", "/feeds/X/test", "/feeds/X/remove", "/imports", "/imports/X/cancel", "/items/X/spam",
			"/items/X/differ", "/items/X/labels", "/mesh/quarantine/3/replay", "/rules", "/rules/X", "/rules/X/restore", "/rules/X/apply", "/spam", "/stories/X/split", "/stories/X/join",
			"/views/edit", "/views/remove/X",
		} {
			ask("POST", strings.Replace(path, "X", url.PathEscape(evil), 1), form)
		}
		ask("POST", "/items/"+item+"/spam", form)
		ask("POST", "/spam", url.Values{"item": {item}, "spam": {"yes"}, "back": {evil}})
		ask("POST", "/spam", url.Values{"item": {item}, "spam": {"no"}, "back": {"/spam" + evil}})
		ask("GET", evil, nil)
		ask("GET", "/"+evil, nil)
		ask("GET", "/api/"+evil, nil)
	}
	if sent < 3*len(elsewheres) {
		t.Errorf("only %d answers sent anywhere: the test is of nothing", sent)
	}
	if staysHere("//evil.example", here.URL) || staysHere(`/\evil.example`, here.URL) || !staysHere("/spam", here.URL) {
		t.Error("the test does not detect another site")
	}
}

// nowhere finds nothing.
type nowhere struct{}

func (nowhere) Fetch(context.Context, fetch.Request, time.Time) (fetch.Document, error) {
	return fetch.Document{}, errors.New("no such host")
}

// someItem stores an item of the first feed and returns its ID.
func (l *living) someItem(t *testing.T) string {
	t.Helper()
	item := storage.Item{FeedID: l.feeds[0], ID: storage.ItemID(l.feeds[0], "some"), Key: "some", Hash: "h", Title: "Some", FirstSeen: time.Now()}
	if _, err := l.store.PutItems(t.Context(), storage.Batch{FeedID: l.feeds[0], Items: []storage.Item{item}}); err != nil {
		t.Fatal(err)
	}
	return item.ID
}

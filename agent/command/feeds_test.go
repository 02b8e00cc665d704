package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func TestFeedsImport_ErrorsNameTheFile(t *testing.T) {
	w := newTestbed(t)
	page := write(t, "page.opml", "<html><body>hello</body></html>")
	w.do(t, "feeds", "import", page).check(t, 2, "", "page.opml: this is a web page, not OPML; nothing was added")

	list := write(t, "list.opml", `<opml><body><outline xmlUrl="https://c.example/f"/>
<outline xmlUrl="gopher://old.example/f"/><outline xmlUrl="`+feedURL+`"/></body></opml>`)
	w.do(t, "feeds", "import", list).check(t, 3, "1 added, 1 existing, 1 invalid", "list.opml:2: ")

	t.Setenv("FEEDMESH_API", w.URL)
	do(t, "https://d.example/f\n", "feeds", "import", "-").check(t, 0, "1 added", "")
	do(t, "https://d.example/f\n", "feeds", "import", "-", "--json").check(t, 0, `"known":1`, "")
	do(t, "https://e.example/f\n", "feeds", "import", "-", "--no-wait").check(t, 0, "importing 1 feeds; agent imports show ", "")
}

func TestImports_ListAndShow(t *testing.T) {
	w := newTestbed(t)
	list := "https://c.example/f\n" + strings.Repeat("gopher://old.example/f\n", maxInvalidLines+5)
	s := w.do(t, "feeds", "import", write(t, "list.txt", list))
	s.check(t, 3, "1 added, 0 existing, 25 invalid", "and 5 more; agent imports show ")
	if got := strings.Count(s.err, "list.txt:"); got != maxInvalidLines {
		t.Errorf("%d lines are named, want %d", got, maxInvalidLines)
	}
	var all wire.Imports
	if err := json.Unmarshal([]byte(w.do(t, "imports", "list", "--json").out), &all); err != nil || len(all.Imports) != 1 {
		t.Fatalf("got %+v, %v, want one import", all, err)
	}
	id := all.Imports[0].ID
	w.do(t, "imports", "list").check(t, 0, id+"  done", "")
	w.do(t, "imports", "show", id).check(t, 0, "added    https://c.example/f", "")
	if got := strings.Count(w.do(t, "imports", "show", id, "--invalid").out, "is not a web address"); got != maxInvalidLines+5 {
		t.Errorf("%d lines are shown, want %d", got, maxInvalidLines+5)
	}
	w.do(t, "imports", "show", id, "--json").check(t, 0, `"lines":[{"line":1,`, "")
}

func TestFeedsAdd_DiscoversFeedsOfPage(t *testing.T) {
	w := newTestbed(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/one":
			fmt.Fprint(w, `<html><link rel=alternate type="application/rss+xml" href="/a.xml">`)
		case "/two":
			fmt.Fprint(w, `<html><link rel=alternate type="application/rss+xml" href="/a.xml"><link rel=alternate type="application/rss+xml" href="/b.xml">`)
		case "/a.xml", "/b.xml":
			fmt.Fprintf(w, `<rss version="2.0"><channel><title>Feed %s %s</title></channel></rss>`, r.URL.Path, escape)
		case "/none":
			fmt.Fprint(w, "<html>hello")
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	a, b := storage.FeedID(site.URL+"/a.xml"), storage.FeedID(site.URL+"/b.xml")
	w.do(t, "feeds", "add", site.URL+"/none").check(t, 2, "", "no feed was found")
	w.do(t, "feeds", "add", site.URL+"/two").check(t, 2, "", "is a web page with 2 feeds; add one by its URL, or all with --all:\nagent:     "+site.URL+"/a.xml  Feed /a.xml")
	if _, err := w.Store.Feed(t.Context(), a); err == nil {
		t.Error("one of several feeds was added, want a person to choose")
	}
	w.do(t, "feeds", "add", site.URL+"/one").check(t, 0, "added  "+a, "is a web page; its feed is "+site.URL+"/a.xml")
	w.do(t, "feeds", "add", site.URL+"/two", site.URL+"/none", "--all").check(t, 3, "added  "+b, "no feed was found")
	w.do(t, "feeds", "add", site.URL+"/none", "--as-is").check(t, 0, "added", "")
}

func TestFeedsSet_SecretsFromFilesAreNotPrinted(t *testing.T) {
	w := newTestbed(t)
	secret := "@" + write(t, "secret", "s3cret\n")
	w.do(t, "feeds", "set", feedURL, "--user", "me", "--password", secret, "--header", "Cookie=a=b,c=s3cret").check(t, 0, "password     set", "")
	f, err := w.Store.Feed(t.Context(), w.feed)
	if err != nil || f.Request == nil || f.Request.Password != "s3cret" || f.Request.Header["Cookie"] != "a=b,c=s3cret" {
		t.Errorf("the store has %+v, %v, want what was set", f.Request, err)
	}
	w.do(t, "proxies", "set", "eu", "@"+write(t, "proxy", "socks5://me:s3cret@proxy.example:1080\n")).check(t, 0, "eu: socks5://me:xxxxx@proxy.example:1080", "")
	for _, line := range []string{"feeds show " + feedURL, "feeds show --json " + feedURL, "feeds list --json", "feeds export", "proxies list", "proxies list --json"} {
		if s := w.do(t, strings.Fields(line)...); s.code != 0 || strings.Contains(s.out+s.err, "s3cret") {
			t.Errorf("%s: got code %d, and a secret is printed: %s", line, s.code, s.out)
		}
	}
	w.do(t, "feeds", "set", feedURL, "--header", "Cookie=", "--user=", "--user-agent=").check(t, 0, "", "")
	if f, err = w.Store.Feed(t.Context(), w.feed); err != nil || f.Request != nil {
		t.Errorf("the store has %+v, %v, want nothing left", f.Request, err)
	}
}

package command

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedmesh/agent/service"
)

func TestFeedsList_Filters(t *testing.T) {
	w := newTestbed(t)
	for flags, listed := range map[string]bool{
		"": true, "--state failing": true, "--failing": true, "--state ok": false, "--class dns": true, "--class tls": false,
		"--host " + strings.Split(feedURL, "/")[2]: true, "--host none.example": false, "--text " + feedURL: true, "--text nothing": false, "--pinned": false,
		"--sort title": true,
	} {
		s := w.do(t, append([]string{"feeds", "list"}, strings.Fields(flags)...)...)
		if got := strings.Contains(s.out, w.feed); got != listed || s.code != 0 {
			t.Errorf("%s: listed %v with code %d, want %v: %s%s", flags, got, s.code, listed, s.out, s.err)
		}
	}
	w.do(t, "feeds", "list", "--state", "odd").check(t, 2, "", "must be one of")
}

func TestFeedsList_PausedPolling(t *testing.T) {
	const stalled = "since 10:00:00 UTC: polling is paused: no network"
	w := newTestbed(t, func(d *service.Deps) { d.Stalled = func() []string { return []string{stalled} } })
	w.do(t, "feeds", "list").check(t, 0, "STALLED "+stalled+"\nID ", "")
	if s := w.do(t, "feeds", "list", "--json"); strings.Contains(s.out, "STALLED") {
		t.Errorf("got %s", s.out)
	}
}

func TestFeedsRefresh_SelectsByFilter(t *testing.T) {
	w := newTestbed(t)
	w.do(t, "feeds", "refresh", "--class", "dns").check(t, 0, "1 feed will be polled now", "")
	w.do(t, "feeds", "refresh", "--class", "tls").check(t, 0, "0 feeds will be polled now", "")
	w.do(t, "feeds", "refresh").check(t, 2, "", "no feeds selected")
	w.do(t, "feeds", "refresh", "--class", "dns", feedURL).check(t, 2, "", "not both")
}

func TestFeedsTest_PrintsHeadersAndProblem(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Odd", "a")
		if r.URL.Path == "/page" {
			fmt.Fprint(w, "<html>hello")
			return
		}
		fmt.Fprint(w, `<rss version="2.0"><channel><title>News</title><item><title>First</title><link>https://a.example/1</link></item></channel></rss>`)
	}))
	defer site.Close()
	w := newTestbed(t)
	s := w.do(t, "feeds", "test", site.URL+"/feed")
	s.check(t, 0, `RSS, "News": 1 entries`, "")
	for _, want := range []string{"> GET " + site.URL + "/feed", "> User-Agent: ", "< 200 after ", "< X-Odd: a", "First  https://a.example/1"} {
		if !strings.Contains(s.out, want) {
			t.Errorf("it prints %q, want %q", s.out, want)
		}
	}
	w.do(t, "feeds", "test", site.URL+"/page").check(t, 1, "The document is a web page, not a feed.", "")
	w.do(t, "feeds", "test", "none").check(t, 1, "", "not found")
}

func TestImports_CSVAndCancel(t *testing.T) {
	w := newTestbed(t)
	w.do(t, "feeds", "import", write(t, "list.txt", "https://c.example/f\ngopher://old.example/f\n"))
	id := strings.Fields(strings.SplitAfter(w.do(t, "imports", "list").out, "\n")[1])[0]
	w.do(t, "imports", "show", id, "--csv").check(t, 0, "2,gopher://old.example/f,invalid,", "")
	if s := w.do(t, "imports", "show", id, "--verdict", "invalid"); strings.Contains(s.out, "c.example") || !strings.Contains(s.out, "old.example") {
		t.Errorf("it prints %q, want the invalid line alone", s.out)
	}
	w.do(t, "imports", "cancel", id).check(t, 0, "has already finished: done", "")
	w.do(t, "imports", "cancel", "nope").check(t, 1, "", "import nope: not found")
}

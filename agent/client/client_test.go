package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/wire"
)

// answering returns a client of a server with a fixed response, and its last request.
func answering(t *testing.T, status int, header http.Header, answer string) (*Client, *http.Request) {
	t.Helper()
	asked := new(http.Request)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = *r
		asked.Body = io.NopCloser(bytes.NewReader(body))
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	c, err := NewClient(server.URL+"/", "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	return c, asked
}

func kind(mime string) http.Header { return http.Header{"Content-Type": {mime}} }

func TestClient_CallsEveryRoute(t *testing.T) {
	c, asked := answering(t, 200, kind("application/json"), "{}")
	ctx, day := t.Context(), time.Date(2026, 1, 31, 1, 0, 0, 0, time.FixedZone("", 3600))
	cases := []struct {
		want string
		call func() error
	}{
		{"GET /api/feeds?after=u&limit=3", func() error {
			_, err := Call(ctx, c, wire.ListFeeds, wire.FeedSearch{After: "u", Limit: 3})
			return err
		}},
		{"POST /api/feeds", func() error {
			_, err := Call(ctx, c, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: []string{"u"}}})
			return err
		}},
		{"POST /api/feeds/import?name=a.opml", func() error { _, err := c.StartImport(ctx, "a.opml", strings.NewReader("u")); return err }},
		{"GET /api/imports", func() error { _, err := Call(ctx, c, wire.ListImports, wire.None{}); return err }},
		{"GET /api/imports/a", func() error { _, err := Call(ctx, c, wire.GetImport, wire.ByID{ID: "a"}); return err }},
		{"GET /api/imports/a/lines?after=7&limit=5&outcome=invalid", func() error {
			_, err := Call(ctx, c, wire.ListImportLines, wire.ImportSearch{ID: "a", Outcome: wire.ImportInvalid, After: 7, Limit: 5})
			return err
		}},
		{"POST /api/feeds/discover", func() error {
			_, err := Call(ctx, c, wire.DiscoverFeeds, wire.DiscoverRequest{Body: wire.DiscoveredAddress{URL: "u"}})
			return err
		}},
		{"PATCH /api/feeds/a", func() error { _, err := Call(ctx, c, wire.SetFeed, wire.SetFeedRequest{ID: "a"}); return err }},
		{"GET /api/proxies", func() error { _, err := Call(ctx, c, wire.ListProxies, wire.None{}); return err }},
		{"PUT /api/proxies/a", func() error { _, err := Call(ctx, c, wire.SetProxy, wire.SetProxyRequest{ID: "a"}); return err }},
		{"DELETE /api/proxies/a", func() error { _, err := Call(ctx, c, wire.RemoveProxy, wire.ByID{ID: "a"}); return err }},
		{"GET /api/views", func() error { _, err := Call(ctx, c, wire.ListViews, wire.None{}); return err }},
		{"PUT /api/views/a", func() error {
			_, err := Call(ctx, c, wire.SaveView, wire.SaveViewRequest{Name: "a", Body: wire.ViewSetting{}})
			return err
		}},
		{"DELETE /api/views/a", func() error { _, err := Call(ctx, c, wire.RemoveView, wire.ViewName{Name: "a"}); return err }},
		{"GET /api/feeds/export", func() error { _, err := Call(ctx, c, wire.ExportFeeds, wire.None{}); return err }},
		{"GET /api/feeds/a%2Fb", func() error { _, err := Call(ctx, c, wire.GetFeed, wire.ByID{ID: "a/b"}); return err }},
		{"DELETE /api/feeds/a", func() error { _, err := Call(ctx, c, wire.RemoveFeed, wire.ByID{ID: "a"}); return err }},
		{"POST /api/feeds/a/refresh", func() error { _, err := Call(ctx, c, wire.RefreshFeed, wire.ByID{ID: "a"}); return err }},
		{"GET /api/search?after=2026-01-31T00%3A00%3A00Z&limit=5&q=a+b&spam=true", func() error {
			_, err := Call(ctx, c, wire.SearchItems, wire.Search{Query: "a b", After: day, Limit: 5, Spam: true})
			return err
		}},
		{"GET /api/items/a", func() error { _, err := Call(ctx, c, wire.GetItem, wire.ByID{ID: "a"}); return err }},
		{"GET /api/status", func() error { _, err := Call(ctx, c, wire.GetStatus, wire.None{}); return err }},
		{"GET /api/quarantine?after=7&limit=5", func() error {
			_, err := Call(ctx, c, wire.ListQuarantine, wire.QuarantineSearch{After: 7, Limit: 5})
			return err
		}},
		{"GET /api/quarantine/7", func() error { _, err := Call(ctx, c, wire.GetQuarantined, wire.BySeq{Seq: 7}); return err }},
		{"POST /api/quarantine/7/replay", func() error { return Do(ctx, c, wire.ReplayQuarantined, wire.BySeq{Seq: 7}) }},
		{"DELETE /api/quarantine/7", func() error { return Do(ctx, c, wire.DropQuarantined, wire.BySeq{Seq: 7}) }},
		{"PUT /api/cordons/a", func() error {
			_, err := Call(ctx, c, wire.SetCordon, wire.CordonRequest{ID: "a", Body: wire.CordonSetting{Drain: true}})
			return err
		}},
		{"DELETE /api/cordons/a", func() error { return Do(ctx, c, wire.RemoveCordon, wire.ByID{ID: "a"}) }},
		{"POST /api/reindex", func() error { _, err := Call(ctx, c, wire.BeginReindex, wire.ReindexRequest{All: false}); return err }},
		{"POST /api/reindex?all=true", func() error { _, err := Call(ctx, c, wire.BeginReindex, wire.ReindexRequest{All: true}); return err }},
		{"GET /api/reindex", func() error { _, err := Call(ctx, c, wire.GetReindex, wire.None{}); return err }},
		{"GET /api/rules", func() error { _, err := Call(ctx, c, wire.ListRules, wire.None{}); return err }},
		{"PUT /api/rules/a?note=n&version=3", func() error {
			_, err := Call(ctx, c, wire.PutRules, wire.PutRulesRequest{Name: "a", Version: fmt.Sprint(3), RawBody: []byte("text"), Note: "n"})
			return err
		}},
		{"POST /api/rules/a/check", func() error {
			_, err := Call(ctx, c, wire.CheckRules, wire.RuleTextRequest{Name: "a", RawBody: []byte("text")})
			return err
		}},
		{"GET /api/rules/a/versions?before=7&limit=5", func() error {
			_, err := Call(ctx, c, wire.ListRuleVersions, wire.RuleVersionSearch{Name: "a", Before: 7, Limit: 5})
			return err
		}},
		{"POST /api/rules/a/restore?version=0", func() error {
			_, err := Call(ctx, c, wire.RestoreRules, wire.RestoreRulesRequest{Name: "a", Version: 0})
			return err
		}},
		{"GET /api/stories?after=2026-01-31T00%3A00%3A00Z&category=c&language=en&limit=5&sort=newest&sources=3&topic=t", func() error {
			_, err := Call(ctx, c, wire.ListStories, wire.StorySearch{Language: "en", Category: "c", Topic: "t", After: day, Sources: 3, Sort: "newest", Limit: 5})
			return err
		}},
		{"GET /api/stories/a", func() error { _, err := Call(ctx, c, wire.GetStory, wire.ByID{ID: "a"}); return err }},
		{"POST /api/stories/a/split", func() error {
			_, err := Call(ctx, c, wire.SplitStory, wire.SplitStoryRequest{ID: "a", Body: wire.SplitRequest{EventID: "e"}})
			return err
		}},
		{"POST /api/stories/a/join", func() error {
			_, err := Call(ctx, c, wire.JoinStories, wire.JoinStoriesRequest{ID: "a", Body: wire.JoinRequest{StoryID: "b"}})
			return err
		}},
		{"GET /api/bursts?limit=5&of=topic", func() error {
			_, err := Call(ctx, c, wire.ListBursts, wire.ListBurstsRequest{Of: "topic", Limit: 5})
			return err
		}},
		{"GET /api/items/a/duplicates", func() error { _, err := Call(ctx, c, wire.ListDuplicates, wire.ByID{ID: "a"}); return err }},
		{"GET /api/items/a/related?limit=5", func() error {
			_, err := Call(ctx, c, wire.ListRelated, wire.ListRelatedRequest{ID: "a", Limit: 5})
			return err
		}},
		{"GET /api/items/a/explain?with=b", func() error {
			_, err := Call(ctx, c, wire.ExplainItems, wire.ExplainItemsRequest{ID: "a", With: "b"})
			return err
		}},
		{"PUT /api/items/a/duplicate", func() error {
			_, err := Call(ctx, c, wire.RepeatItem, wire.RepeatItemRequest{ID: "a", Body: wire.Repetition{Of: "b"}})
			return err
		}},
		{"DELETE /api/items/a/duplicate", func() error { _, err := Call(ctx, c, wire.DifferItem, wire.ByID{ID: "a"}); return err }},
		{"POST /api/items/a/clicks", func() error {
			_, err := Call(ctx, c, wire.ClickItem, wire.ClickItemRequest{ID: "a", Body: wire.Clicks{Count: 3}})
			return err
		}},
		{"GET /readyz", func() error { _, err := c.Ready(ctx); return err }},
	}
	for _, call := range cases {
		if err := call.call(); err != nil {
			t.Errorf("%s: %v", call.want, err)
		}
		if got := asked.Method + " " + asked.RequestURI; got != call.want {
			t.Errorf("it asks %s, want %s", got, call.want)
		}
		if got := asked.Header.Get("Authorization"); got != "Bearer s3cret" {
			t.Errorf("%s shows %q", call.want, got)
		}
	}
}

func TestClient_ReturnsProblemDetails(t *testing.T) {
	c, _ := answering(t, 422, kind("application/problem+json"),
		`{"status":422,"detail":"validation failed","errors":[{"message":"too long","location":"query.q"},{"message":"odd"}]}`)
	_, err := Call(t.Context(), c, wire.SearchItems, wire.Search{})
	var p *Problem
	if !errors.As(err, &p) || p.Status != 422 || err.Error() != "validation failed: too long (query.q); odd" {
		t.Errorf("got %v", err)
	}
	c, _ = answering(t, 503, kind("application/problem+json"), `{}`)
	if _, err := Call(t.Context(), c, wire.RemoveFeed, wire.ByID{ID: "a"}); err == nil || err.Error() != "service unavailable" {
		t.Errorf("got %v", err)
	}
}

func TestClient_DetectsForeignServer(t *testing.T) {
	cases := []struct {
		status int
		header http.Header
		answer string
		want   string
	}{
		{404, kind("text/html"), "<html>", "is not a feedmesh node (it returned 404 Not Found)"},
		{200, kind("text/html"), "<html>", "is not a feedmesh node (it returned 200 OK)"},
		{500, kind("application/problem+json"), "<html>", "is not a feedmesh node"},
		{302, http.Header{"Location": {"https://login.example/"}}, "", "redirects to https://login.example/"},
	}
	for _, s := range cases {
		c, _ := answering(t, s.status, s.header, s.answer)
		if _, err := Call(t.Context(), c, wire.GetStatus, wire.None{}); err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("status: got %v, want %q", err, s.want)
		}
		if _, err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("readiness: got %v, want %q", err, s.want)
		}
	}
}

func TestClient_ReadsFailedReadiness(t *testing.T) {
	c, _ := answering(t, 503, kind("application/json"), `{"ready":false,"checks":[{"name":"store","ok":false,"detail":"gone"}]}`)
	r, err := c.Ready(t.Context())
	if err != nil || r.Ready || len(r.Checks) != 1 || r.Checks[0].Detail != "gone" || time.Since(r.At) > time.Minute {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestClient_ReportsUnreachableNode(t *testing.T) {
	c, _ := answering(t, 200, nil, "{}")
	c.base = "http://127.0.0.1:1"
	if _, err := Call(t.Context(), c, wire.GetStatus, wire.None{}); err == nil || err.Error() != "no node answers at http://127.0.0.1:1: is one running? start one with: agent" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Call(ctx, c, wire.GetStatus, wire.None{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's end", err)
	}
	for _, address := range []string{"", "host:80", "ftp://host", "/path", "http://"} {
		if _, err := NewClient(address, ""); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
}

func TestClient_UploadsListWhileReading(t *testing.T) {
	c, asked := answering(t, 202, kind("application/json"), `{"id":"a"}`)
	imp, err := c.StartImport(t.Context(), "a.opml", struct{ io.Reader }{strings.NewReader("u")})
	if err != nil || imp.ID != "a" {
		t.Fatalf("got %+v, %v; want the import", imp, err)
	}
	body, _ := io.ReadAll(asked.Body)
	if asked.Header.Get("Content-Type") != "application/xml" || asked.ContentLength != -1 || string(body) != "u" {
		t.Errorf("got %q as %s of %d bytes, want the list as XML of unknown size", body, asked.Header.Get("Content-Type"), asked.ContentLength)
	}
}

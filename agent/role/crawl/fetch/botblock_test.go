package fetch

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// respond returns a handler that responds with a status, headers and a page.
func respond(status int, page string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, page)
	}
}

// webPage returns a web page with the given body.
func webPage(inside string) string {
	return "<!DOCTYPE html>\n<html lang=en><head><title>Page</title></head><body>" + inside + "</body></html>"
}

func TestBotBlocks_AreIdentifiedByName(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		status  int
		page    string
		headers []string
		want    string
	}{
		{403, "", []string{"cf-mitigated", "challenge"}, "a Cloudflare challenge"},
		{429, webPage(""), []string{"CF-Mitigated", "challenge", "Server", "cloudflare"}, "a Cloudflare challenge"},
		{503, webPage("<script>window._cf_chl_opt={}</script>"), []string{"Server", "cloudflare"}, "a Cloudflare challenge"},
		{403, webPage("Sorry, you have been blocked"), []string{"Server", "cloudflare"}, "a Cloudflare block"},
		{202, "", []string{"x-amzn-waf-action", "challenge"}, "an AWS challenge"},
		{405, webPage(""), []string{"x-amzn-waf-action", "captcha"}, "an AWS challenge"},
		{429, webPage(""), []string{"x-vercel-mitigated", "challenge"}, "a Vercel challenge"},
		{200, webPage(`<script id="anubis_challenge" type="application/json">{}</script>`), nil, "an Anubis challenge"},
		{403, webPage(`<script src="https://ct.captcha-delivery.com/c.js"></script>`), nil, "a DataDome challenge"},
		{403, webPage(`<div id="px-captcha"></div>`), nil, "a HUMAN challenge"},
		{403, webPage(""), []string{"X-Sucuri-Block", "BKLST"}, "a Sucuri block"},
		{403, webPage("<title>Sucuri WebSite Firewall - Access Denied</title>"), nil, "a Sucuri block"},
		{200, webPage("<script>sucuri_cloudproxy_js='';</script>"), nil, "a Sucuri challenge"},
		{403, webPage("Access Denied https://errors.edgesuite.net/18.1"), nil, "an Akamai block"},
		{429, webPage(`<iframe src="/_sec/cp_challenge/x.htm"></iframe>`), nil, "an Akamai challenge"},
		{200, webPage(`<iframe src="/_Incapsula_Resource?x">Request unsuccessful. Incapsula incident ID: 1-2</iframe>`), nil, "an Imperva block"},
		{403, webPage(`<script src="/.well-known/ddos-guard/js-challenge/index.js"></script>`), nil, "a DDoS-Guard challenge"},
	} {
		e := fails(t, client(t), Request{URL: serve(t, respond(x.status, x.page, x.headers...))}, ClassBotBlock)
		if want := "127.0.0.1 shows " + x.want + " instead of the feed"; e.Error() != want || e.Status != x.status {
			t.Errorf("got %d %q, want %d %q", e.Status, e, x.status, want)
		}
	}
}

// Pages for readers behind such a service are not bot blocks.
func TestBotBlocks_PagesForReadersAreNotBlocks(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		page    string
		headers []string
	}{
		{webPage(`<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>`), []string{"Server", "cloudflare"}},
		{webPage("we write of _cf_chl_opt and say Sorry, you have been blocked"), []string{"Server", "nginx"}},
		{webPage(`<script src="https://js.datadome.co/tags.js"></script><script src="//client.perimeterx.net/x/main.min.js"></script>`), []string{"X-DataDome", "protected"}},
		{webPage(`<script src="/_Incapsula_Resource?SWJIYLWA=1"></script>`), []string{"X-CDN", "Incapsula"}},
		{webPage(""), []string{"X-Sucuri-ID", "1", "Server", "Sucuri/Cloudproxy"}},
	} {
		fails(t, client(t), Request{URL: serve(t, respond(404, x.page, x.headers...))}, ClassClient)
		get(t, client(t), Request{URL: serve(t, respond(200, x.page, x.headers...))})
	}
}

// A feed may quote such a page.
func TestBotBlocks_FeedThatQuotesAPageIsAFeed(t *testing.T) {
	t.Parallel()
	for _, feed := range []string{
		`<rss><item>` + webPage(`id="anubis_challenge" <input type="password">`) + `</item></rss>`,
		`<?xml version="1.0"?><!-- a feed --><feed xmlns="a">` + webPage(`id="anubis_challenge"`) + `</feed>`,
		`{"version": "https://jsonfeed.org/version/1.1", "items": [{"content_html": "<html><input type='password'>"}]}`,
	} {
		d := get(t, client(t), Request{URL: serve(t, respond(200, feed)), BodyHash: "before"})
		if got := text(t, d); got != feed {
			t.Errorf("got %q, want the feed", got)
		}
	}
}

func TestResponseHead_IsDecompressedAndLimited(t *testing.T) {
	t.Parallel()
	mark := webPage(`<div id="px-captcha"></div>`)
	for encoding, encode := range encodings {
		for page, want := range map[string]Class{
			mark:                                        ClassBotBlock,
			strings.Repeat(" ", headSize-500) + mark:    ClassBotBlock,
			strings.Repeat(" ", headSize) + mark:        ClassClient,
			strings.Repeat("<p>long</p>", 1<<16) + mark: ClassClient,
		} {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", encoding)
				w.WriteHeader(http.StatusForbidden)
				w.Write(encode(t, []byte(page)))
			})
			fails(t, client(t), Request{URL: url}, want)
		}
	}
	for name, body := range map[string][]byte{"br": []byte("no br"), "zstd": []byte("no zstd"), "deflate": []byte("x"), "gzip": {0x1f, 0x8b, 8}} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", name)
			w.WriteHeader(http.StatusForbidden)
			w.Write(body)
		})
		fails(t, client(t), Request{URL: url}, ClassClient)
	}
}

func TestBotBlocks_KeepRetryAfter(t *testing.T) {
	t.Parallel()
	e := fails(t, client(t), Request{URL: serve(t, respond(503, "", "cf-mitigated", "challenge", "Retry-After", "120"))}, ClassBotBlock)
	if e.RetryAfter.Seconds() != 120 {
		t.Errorf("got %v, want 2m", e.RetryAfter)
	}
}

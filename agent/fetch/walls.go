package fetch

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A wall is what a service puts between us and a feed when it takes us for a
// bot. One of its headers or one of its marks tells it.
type wall struct {
	shows   string
	headers []header
	server  string   // if not "", marks count only where Server begins with it
	marks   []string // that are in the page, and never in one that a site shows to readers
}

type header struct{ name, value string }

// walls are known by what their makers document, or else by what their pages
// have had in them for years.
var walls = []wall{
	{ // developers.cloudflare.com, "Detect a Challenge Page response"
		shows:   "a Cloudflare challenge",
		headers: []header{{"Cf-Mitigated", "challenge"}},
		server:  "cloudflare",
		marks:   []string{"_cf_chl_opt", "/orchestrate/chl_page/", "cf-browser-verification"},
	},
	{shows: "a Cloudflare block", server: "cloudflare", marks: []string{"Attention Required! | Cloudflare", "Sorry, you have been blocked"}},
	{ // docs.aws.amazon.com, "ChallengeAction" and "CaptchaAction"
		shows:   "an AWS challenge",
		headers: []header{{"X-Amzn-Waf-Action", "challenge"}, {"X-Amzn-Waf-Action", "captcha"}},
	},
	{shows: "a Vercel challenge", headers: []header{{"X-Vercel-Mitigated", "challenge"}}},
	{shows: "an Anubis challenge", marks: []string{`id="anubis_challenge"`}},
	{shows: "a DataDome challenge", marks: []string{".captcha-delivery.com/"}},
	{shows: "a HUMAN challenge", marks: []string{`id="px-captcha"`, "captcha.px-cdn.net"}}, // once PerimeterX
	{shows: "a Sucuri challenge", marks: []string{"sucuri_cloudproxy_js"}},
	{shows: "a Sucuri block", headers: []header{{"X-Sucuri-Block", ""}}, marks: []string{"Sucuri WebSite Firewall - Access Denied"}},
	{shows: "an Akamai challenge", marks: []string{"/_sec/cp_challenge/"}},
	{shows: "an Akamai block", marks: []string{"//errors.edgesuite.net/"}},
	{shows: "an Imperva block", marks: []string{"Incapsula incident ID"}},
	{shows: "a DDoS-Guard challenge", marks: []string{"/.well-known/ddos-guard/js-challenge"}},
}

// wallOf returns what bot wall an answer shows, given the head of its page; ""
// if none.
func wallOf(h http.Header, page []byte) string {
	i := slices.IndexFunc(walls, func(w wall) bool { return w.has(h, page) })
	if i < 0 {
		return ""
	}
	return walls[i].shows
}

func (w wall) has(h http.Header, page []byte) bool {
	for _, x := range w.headers {
		if got := h.Get(x.name); got != "" && (x.value == "" || strings.EqualFold(got, x.value)) {
			return true
		}
	}
	return strings.HasPrefix(strings.ToLower(h.Get("Server")), w.server) &&
		slices.ContainsFunc(w.marks, func(mark string) bool { return bytes.Contains(page, []byte(mark)) })
}

// obstacle says what an answer shows instead of a feed, given the head of its
// page: a bot wall, or that it wants to know who asks; nil if neither.
func (t *try) obstacle(r *http.Response, page []byte) *Error {
	host := r.Request.URL.Hostname()
	e := &Error{Status: r.StatusCode}
	switch wall := wallOf(r.Header, page); {
	case wall != "":
		e.Class, e.Err = ClassWall, fmt.Errorf("%s shows %s instead of the feed", host, wall)
	case r.StatusCode == http.StatusUnauthorized && r.Request.Header.Get("Authorization") != "":
		e.Class, e.Err = ClassLogin, fmt.Errorf("%s does not take the feed's user and password", host)
	case r.StatusCode == http.StatusUnauthorized:
		e.Class, e.Err = ClassLogin, fmt.Errorf("%s asks for a user and a password; set the feed's", host)
	default:
		return nil
	}
	return e
}

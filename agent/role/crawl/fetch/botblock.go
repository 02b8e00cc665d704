package fetch

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A botBlock identifies the page that a bot protection service returns in place of the feed. Any of its
// headers or signs is sufficient.
type botBlock struct {
	name    string
	headers []header
	server  string   // if not "", signs count only if the Server header has this prefix
	signs   []string // texts in the page that never occur in pages for readers
}

type header struct{ name, value string }

// botBlocks are identified as their vendors document, or else by texts that their pages have contained for
// years.
var botBlocks = []botBlock{
	{ // developers.cloudflare.com, "Detect a Challenge Page response"
		name:    "a Cloudflare challenge",
		headers: []header{{"Cf-Mitigated", "challenge"}},
		server:  "cloudflare",
		signs:   []string{"_cf_chl_opt", "/orchestrate/chl_page/", "cf-browser-verification"},
	},
	{name: "a Cloudflare block", server: "cloudflare", signs: []string{"Attention Required! | Cloudflare", "Sorry, you have been blocked"}},
	{ // docs.aws.amazon.com, "ChallengeAction" and "CaptchaAction"
		name:    "an AWS challenge",
		headers: []header{{"X-Amzn-Waf-Action", "challenge"}, {"X-Amzn-Waf-Action", "captcha"}},
	},
	{name: "a Vercel challenge", headers: []header{{"X-Vercel-Mitigated", "challenge"}}},
	{name: "an Anubis challenge", signs: []string{`id="anubis_challenge"`}},
	{name: "a DataDome challenge", signs: []string{".captcha-delivery.com/"}},
	{name: "a HUMAN challenge", signs: []string{`id="px-captcha"`, "captcha.px-cdn.net"}}, // once PerimeterX
	{name: "a Sucuri challenge", signs: []string{"sucuri_cloudproxy_js"}},
	{name: "a Sucuri block", headers: []header{{"X-Sucuri-Block", ""}}, signs: []string{"Sucuri WebSite Firewall - Access Denied"}},
	{name: "an Akamai challenge", signs: []string{"/_sec/cp_challenge/"}},
	{name: "an Akamai block", signs: []string{"//errors.edgesuite.net/"}},
	{name: "an Imperva block", signs: []string{"Incapsula incident ID"}},
	{name: "a DDoS-Guard challenge", signs: []string{"/.well-known/ddos-guard/js-challenge"}},
}

// findBotBlock returns the name of the bot block that a response shows, given the first bytes of its page; ""
// if none.
func findBotBlock(h http.Header, page []byte) string {
	i := slices.IndexFunc(botBlocks, func(w botBlock) bool { return w.matches(h, page) })
	if i < 0 {
		return ""
	}
	return botBlocks[i].name
}

func (w botBlock) matches(h http.Header, page []byte) bool {
	for _, x := range w.headers {
		if got := h.Get(x.name); got != "" && (x.value == "" || strings.EqualFold(got, x.value)) {
			return true
		}
	}
	return strings.HasPrefix(strings.ToLower(h.Get("Server")), w.server) &&
		slices.ContainsFunc(w.signs, func(mark string) bool { return bytes.Contains(page, []byte(mark)) })
}

// accessError returns an error if a response, given the first bytes of its page, shows a bot block or
// requires a login, else nil.
func (t *attempt) accessError(r *http.Response, page []byte) *Error {
	host := r.Request.URL.Hostname()
	e := &Error{Status: r.StatusCode}
	switch block := findBotBlock(r.Header, page); {
	case block != "":
		e.Class, e.Err = ClassBotBlock, fmt.Errorf("%s shows %s instead of the feed", host, block)
	case r.StatusCode == http.StatusUnauthorized && r.Request.Header.Get("Authorization") != "":
		e.Class, e.Err = ClassLogin, fmt.Errorf("%s rejected the feed's user name and password", host)
	case r.StatusCode == http.StatusUnauthorized:
		e.Class, e.Err = ClassLogin, fmt.Errorf("%s requires a user name and a password; set them for the feed", host)
	default:
		return nil
	}
	return e
}

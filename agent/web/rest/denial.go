package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/access"
	"feedmesh/agent/web/locale"
)

// A denial is the response to a rejected request.
type denial struct {
	status int
	detail string
	header http.Header
	text   locale.Text // sentences for a page, in place of detail; may be nil
}

func (d *denial) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), d.header)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store") // the next request may be allowed
	w.WriteHeader(d.status)
	json.NewEncoder(w).Encode(huma.ErrorModel{Title: http.StatusText(d.status), Status: d.status, Detail: d.detail})
}

// headings are the headings of pages by the status of a denial.
var headings = map[int]locale.Text{
	http.StatusUnauthorized: locale.T("A token is required"), http.StatusForbidden: locale.T("Not allowed"),
	http.StatusTooManyRequests: locale.T("Too many requests"), http.StatusServiceUnavailable: locale.T("Not available"),
}

// deny rejects a request of a client: with a page if a browser requested one of the console, or sent a form, else with JSON.
func (g *guard) deny(w http.ResponseWriter, r *http.Request, pattern string, c access.Client, d *denial) {
	heading, is := headings[d.status]
	if len(g.scopes) == 0 || !is || !g.isPage(pattern) || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		d.ServeHTTP(w, r)
		return
	}
	maps.Copy(w.Header(), d.header)
	w.Header().Set("Cache-Control", "no-store")
	text := d.text
	if text == nil {
		text = locale.Composed(d.detail)
	}
	g.server.pages.Message(w, r.WithContext(access.With(r.Context(), c)), d.status, heading, text)
}

// actions are what each scope allows beside the scopes before it, as pages name it.
var actions = map[access.Scope]locale.Text{
	access.Search: locale.T("search"), access.Read: locale.T("read feeds and items"), access.Write: locale.T("change feeds, items and stories"),
	access.Rules: locale.T("change rules"), access.Admin: locale.T("manage people, tokens and the mesh"),
}

// lacks rejects a client that lacks a scope.
func lacks(c access.Client, needed access.Scope) *denial {
	d := &denial{status: http.StatusForbidden, detail: fmt.Sprintf("%s lacks the scope %s", nameOf(c), needed)}
	if action := actions[needed]; c.Person && action != nil {
		var able locale.Text
		for _, role := range access.Roles {
			switch name := locale.Composed(string(role)); {
			case !role.May(needed):
			case able == nil:
				able = name
			default:
				able = locale.T("%s or an %s", able, name)
			}
		}
		d.text = locale.T("Your role %s can't %s; an %s can. Owners change roles on the page People", locale.Composed(string(c.Role)), action, able)
	}
	return d
}

func deny(status int, why string) http.Handler { return &denial{status: status, detail: why} }

// otherSite rejects a request of another site's page.
var otherSite = &denial{status: http.StatusForbidden, detail: "the request comes from a page of another site"}

// scriptHeaders are headers of requests that the console's scripts and its service worker send.
var scriptHeaders = []string{"Feedmesh-Part", "Service-Worker-Navigation-Preload"}

// noPrompt is the challenge for which browsers show no login of their own.
const noPrompt = `Bearer realm="feedmesh"`

// unauthorized rejects a missing or wrong token. Browsers show a login for the scheme Basic and wait for it; scripts
// get the response at once, and leave the login to the browser's own request of a page.
func unauthorized(r *http.Request) *denial {
	challenge := `Basic realm="feedmesh", charset="UTF-8"`
	if slices.ContainsFunc(scriptHeaders, func(name string) bool { return r.Header.Get(name) != "" }) {
		challenge = noPrompt
	}
	return &denial{status: http.StatusUnauthorized, detail: "a token is required: send Authorization: Bearer TOKEN, or the token as the password of any user",
		header: http.Header{"Www-Authenticate": {challenge}}}
}

// untrusted rejects a forwarded request for an error of [access.Proxies.Resolve].
func untrusted(err error) *denial {
	if errors.Is(err, access.ErrAmbiguousAddress) {
		return &denial{status: http.StatusBadRequest, detail: err.Error() + ": let the proxy remove the header that it does not set itself"}
	}
	return &denial{status: http.StatusForbidden, detail: err.Error() + ": name the proxy's network with --trusted-proxy, such as 127.0.0.1/32, and set --token; or let the proxy remove the header"}
}

// tooManyRequests rejects a request over a limit, with Retry-After.
func tooManyRequests(why string, wait time.Duration) *denial {
	n := seconds(wait)
	return &denial{status: http.StatusTooManyRequests, detail: fmt.Sprintf("%s: wait %d s", why, n), header: http.Header{"Retry-After": {strconv.Itoa(n)}}}
}

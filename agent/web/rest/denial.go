package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/access"
)

// A denial is the response to a rejected request.
type denial struct {
	status int
	detail string
	header http.Header
}

func (d *denial) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), d.header)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store") // the next request may be allowed
	w.WriteHeader(d.status)
	json.NewEncoder(w).Encode(huma.ErrorModel{Title: http.StatusText(d.status), Status: d.status, Detail: d.detail})
}

func deny(status int, why string) http.Handler { return &denial{status: status, detail: why} }

// otherSite rejects a request of another site's page.
var otherSite = deny(http.StatusForbidden, "the request comes from a page of another site")

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

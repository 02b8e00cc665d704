package fetch

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxHostDelay bounds the delay or the freshness lifetime that a host's headers may request.
const maxHostDelay = 7 * 24 * time.Hour

// retryAfter parses both forms of the Retry-After header, seconds and a date.
func retryAfter(value string, now time.Time) time.Duration {
	if d, ok := seconds(value); ok {
		return d
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxHostDelay)
}

// maxAge returns the remaining freshness lifetime of a response, by Cache-Control less Age, or else by
// Expires less Date. It is 0 without these headers and with no-cache or no-store. s-maxage precedes max-age
// because shared caches between the host and this client use it. RFC 9111, sections 4.2 and 5.
func maxAge(h http.Header, now time.Time) time.Duration {
	values := directives(strings.Join(h.Values("Cache-Control"), ","))
	_, noCache := values["no-cache"]
	_, noStore := values["no-store"]
	if noCache || noStore {
		return 0
	}
	for _, name := range []string{"s-maxage", "max-age"} {
		value, given := values[name]
		if !given {
			continue
		}
		lifetime, _ := seconds(value)
		age, _ := seconds(h.Get("Age"))
		return max(lifetime-age, 0)
	}
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		sent = now
	}
	return min(max(expires.Sub(sent), 0), maxHostDelay)
}

// directives parses a Cache-Control header: names in lower case, values without quotes, "" for directives
// without a value. The first of several directives of a name counts.
func directives(value string) map[string]string {
	found := map[string]string{}
	for value != "" {
		var directive string
		directive, value = nextDirective(value)
		name, v, _ := strings.Cut(directive, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, duplicate := found[name]; !duplicate && name != "" {
			found[name] = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return found
}

// nextDirective cuts the header at its first comma outside quotes.
func nextDirective(value string) (directive, rest string) {
	quoted := false
	for i := range len(value) {
		switch {
		case value[i] == '"':
			quoted = !quoted
		case value[i] == ',' && !quoted:
			return value[:i], value[i+1:]
		}
	}
	return value, ""
}

// seconds parses a number of seconds and clamps it to the range from 0 to maxHostDelay. ok is false for
// anything else.
func seconds(value string) (d time.Duration, ok bool) {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil && !errors.Is(err, strconv.ErrRange) { // ErrRange comes with the largest or smallest number
		return 0, false
	}
	return time.Duration(min(max(n, 0), int(maxHostDelay/time.Second))) * time.Second, true
}

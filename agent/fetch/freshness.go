package fetch

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxAsked bounds what a host may ask for, be it to be left alone or to be
// believed that nothing changes.
const maxAsked = 7 * 24 * time.Hour

// retryAfter reads both forms of the header, seconds and a date.
func retryAfter(value string, now time.Time) time.Duration {
	if d, ok := seconds(value); ok {
		return d
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxAsked)
}

// maxAge returns for how long an answer says that it stays as it is, from now
// on: by Cache-Control less Age, or else by Expires less Date. It is 0 if the
// answer does not say, or says no-cache or no-store. s-maxage comes first: it
// is what those between us and the host go by. RFC 9111, sections 4.2 and 5.
func maxAge(h http.Header, now time.Time) time.Duration {
	asked := directives(strings.Join(h.Values("Cache-Control"), ","))
	_, noCache := asked["no-cache"]
	_, noStore := asked["no-store"]
	if noCache || noStore {
		return 0
	}
	for _, name := range []string{"s-maxage", "max-age"} {
		value, said := asked[name]
		if !said {
			continue
		}
		lives, _ := seconds(value)
		age, _ := seconds(h.Get("Age"))
		return max(lives-age, 0)
	}
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		sent = now
	}
	return min(max(expires.Sub(sent), 0), maxAsked)
}

// directives reads a Cache-Control: names in lower case, values without
// quotes, "" where there is none. The first of a name counts.
func directives(value string) map[string]string {
	found := map[string]string{}
	for value != "" {
		var one string
		one, value = cutDirective(value)
		name, v, _ := strings.Cut(one, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, again := found[name]; !again && name != "" {
			found[name] = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return found
}

// cutDirective cuts at the first comma that is not in quotes.
func cutDirective(value string) (one, rest string) {
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

// seconds reads a number of seconds, from 0 to maxAsked: what is less or more
// becomes that. ok says whether it is a number.
func seconds(value string) (d time.Duration, ok bool) {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil && !errors.Is(err, strconv.ErrRange) { // which gives the largest number, or the smallest
		return 0, false
	}
	return time.Duration(min(max(n, 0), int(maxAsked/time.Second))) * time.Second, true
}

package meilisearch

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"feedmesh/classify/query"
)

// padded returns the tokens as an attribute with no word among the first 40. Meilisearch ranks by a
// word's position, and treats positions from 33 to 64, to 128, and so on as equal: among items with the word
// in the title, at any position, prominent and new items must come first.
func padded(tokens tokenList) []string {
	return []string{"", "", "", "", "", string(tokens.text)}
}

// unique returns the distinct strings, in order.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	kept := make([]string, 0, len(list))
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			kept = append(kept, s)
		}
	}
	return kept
}

func siteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// timeOf formats t, in UTC and to the microsecond, so that it is readable and sorts by time.
func timeOf(t time.Time) string {
	t = t.UTC()
	if t.Year() > 9999 {
		t = time.Date(9999, 12, 31, 23, 59, 59, 999999e3, time.UTC)
	} else if t.Year() < 0 {
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t.Format("2006-01-02 15:04:05.999999")
}

// latestOf returns the number of days from t to lastDay. As text these numbers sort the latest days first;
// Meilisearch lists only the first values.
func latestOf(t time.Time) string {
	day, _ := time.Parse(time.DateOnly, dayOf(t)) // never fails on dayOf's format
	return fmt.Sprintf("%07d", (lastDay.Unix()-day.Unix())/(24*60*60))
}

// lastDay is the latest day of timeOf.
var lastDay = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

func dayOf(t time.Time) string { return timeOf(t)[:len(time.DateOnly)] }

// keyOf returns the document's key for an item's ID. IDs of [storage.ItemID] are lower-case letters and
// digits and stay unchanged. Meilisearch also accepts A-Z and -, but orders them as lower case, so all other
// characters are written as _ and two hexadecimal digits.
func keyOf(id string) string {
	var key strings.Builder
	for i := range len(id) {
		if c := id[i]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' {
			key.WriteByte(c)
		} else {
			key.WriteString("_" + hex.EncodeToString([]byte{c}))
		}
	}
	return key.String()
}

// idOf is the inverse of keyOf.
func idOf(key string) string {
	parts := strings.Split(key, "_")
	for i, part := range parts[1:] {
		if b, err := hex.DecodeString(part[:min(2, len(part))]); err == nil && len(b) == 1 {
			parts[i+1] = string(b) + part[2:]
		}
	}
	return strings.Join(parts, "")
}

// suggested returns the distinct words of a title that are suggested.
func suggested(title []query.Word) []string {
	var words []string
	for _, w := range title {
		if utf8.RuneCountInString(w.Text) <= longestSuggested {
			words = append(words, w.Text)
		}
	}
	return unique(words)
}

// longestSuggested is the maximum length of suggested words, in characters: longer input was pasted.
const longestSuggested = 40

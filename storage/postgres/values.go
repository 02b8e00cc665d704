package postgres

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"feedmesh/storage"
)

// clean makes all text arguments valid for PostgreSQL. The arguments of every statement pass through it.
func clean(args ...any) []any {
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			args[i] = cleanText(v)
		case []string:
			args[i] = cleanTexts(v)
		}
	}
	return args
}

// cleanText returns the text as UTF-8 without U+0000.
func cleanText(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\ufffd")
}

func cleanTexts(texts []string) []string {
	all := make([]string, len(texts))
	for i, s := range texts {
		all[i] = cleanText(s)
	}
	return all
}

// listOrNull returns the stored form of a list: JSON, NULL if it is empty.
func listOrNull[T any](list []T) *string {
	if len(list) == 0 {
		return nil
	}
	return cleanJSON(list)
}

// countsOrNull returns the stored form of counts: JSON.
func countsOrNull(counts map[string]float64) *string {
	if len(counts) == 0 {
		return nil
	}
	return asJSON(counts)
}

// requestOrNull returns the stored form of a request: JSON.
func requestOrNull(r *storage.Request) *string {
	if r == nil {
		return nil
	}
	return asJSON(r)
}

func asJSON(v any) *string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // no stored type can fail
	}
	text := string(b)
	return &text
}

// cleanJSON is [asJSON] with valid texts for type jsonb. clean does not find U+0000 within JSON.
func cleanJSON(v any) *string {
	text := cleanJSONText(*asJSON(v))
	return &text
}

func cleanJSONText(text string) string {
	if !strings.Contains(text, `\u0000`) && !strings.Contains(text, `\ufffd`) {
		return text
	}
	return brokenJSON.ReplaceAllStringFunc(text, func(match string) string {
		switch match {
		case `\\`:
			return match
		case `\u0000`:
			return ""
		}
		return `\ufffd`
	})
}

// brokenJSON matches an escaped backslash, U+0000, and a run of invalid bytes, which json.Marshal encodes one
// by one.
var brokenJSON = regexp.MustCompile(`\\\\|\\u0000|(?:\\ufffd(?:\\u0000)*)+`)

// micro returns t rounded to the precision of the store.
func micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

// timeOrNull returns the stored form of t, NULL for the zero time.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// A nullTime scans a time in UTC; NULL is the zero time.
type nullTime struct{ *time.Time }

// ScanTimestamptz implements [pgtype.TimestamptzScanner].
func (m nullTime) ScanTimestamptz(v pgtype.Timestamptz) error {
	*m.Time = time.Time{}
	if v.Valid {
		*m.Time = v.Time.UTC()
	}
	return nil
}

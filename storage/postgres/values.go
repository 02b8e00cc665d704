package postgres

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"feedmesh/storage"
)

// clean makes all texts among the arguments such as PostgreSQL takes. Every
// statement's arguments pass here.
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

// listOrNull returns a list as it is stored: JSON, in which a U+0000 would be
// hidden from clean.
func listOrNull(list []string) *string {
	if len(list) == 0 {
		return nil
	}
	return asJSON(cleanTexts(list))
}

// enclosuresOrNull returns enclosures as they are stored: JSON, likewise.
func enclosuresOrNull(list []storage.Enclosure) *string {
	if len(list) == 0 {
		return nil
	}
	cleaned := make([]storage.Enclosure, len(list))
	for i, e := range list {
		cleaned[i] = storage.Enclosure{URL: cleanText(e.URL), Type: cleanText(e.Type), Length: e.Length}
	}
	return asJSON(cleaned)
}

// linesOrNull returns lines as they are stored: JSON, likewise.
func linesOrNull(lines []storage.Line) *string {
	if len(lines) == 0 {
		return nil
	}
	return asJSON(column(lines, func(l storage.Line) storage.Line {
		return storage.Line{Text: cleanText(l.Text), ItemID: cleanText(l.ItemID)}
	}))
}

// countsOrNull returns counts as they are stored: JSON.
func countsOrNull(counts map[string]float64) *string {
	if len(counts) == 0 {
		return nil
	}
	return asJSON(counts)
}

// requestOrNull returns a request as it is stored: JSON.
func requestOrNull(r *storage.Request) *string {
	if r == nil {
		return nil
	}
	return asJSON(r)
}

func asJSON(v any) *string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // there is nothing in texts that JSON has not
	}
	text := string(b)
	return &text
}

// micro returns t as it will come back.
func micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

// timeOrNull returns t as it is stored where it may be missing.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// A moment scans a time, in UTC; NULL is the zero time.
type moment struct{ *time.Time }

// ScanTimestamptz implements [pgtype.TimestamptzScanner].
func (m moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	*m.Time = time.Time{}
	if v.Valid {
		*m.Time = v.Time.UTC()
	}
	return nil
}

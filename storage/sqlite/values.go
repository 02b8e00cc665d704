package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"feedmesh/storage"
)

// micros returns t as it is stored.
func micros(t time.Time) int64 { return t.UnixMicro() }

// micro returns t as it will come back.
func micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

// microsOrNull returns t as it is stored where it may be missing.
func microsOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// A moment scans what micros and microsOrNull return; NULL is the zero time.
type moment struct{ *time.Time }

func (m moment) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*m.Time = time.Time{}
	case int64:
		*m.Time = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("%T is no time", value)
	}
	return nil
}

// listOrNull returns a list as it is stored; NULL if it is empty.
func listOrNull[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	return asJSON(list)
}

// countsOrNull returns counts as they are stored; NULL if there are none.
func countsOrNull(counts map[string]float64) any {
	if len(counts) == 0 {
		return nil
	}
	return asJSON(counts)
}

// requestOrNull returns a request as it is stored; NULL for nil.
func requestOrNull(r *storage.Request) any {
	if r == nil {
		return nil
	}
	return asJSON(r)
}

// asJSON returns JSON without the \u0026 for & that json.Marshal puts into every
// other address.
func asJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // there is nothing in texts that JSON has not
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fromJSON scans what asJSON returns; NULL is the zero value.
func fromJSON[T any](to *T) sql.Scanner { return jsonScanner[T]{to} }

type jsonScanner[T any] struct{ to *T }

func (s jsonScanner[T]) Scan(value any) error {
	var zero T
	*s.to = zero
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		if words, ok := any(s.to).(*[]string); ok {
			if *words = plainWords(v); *words != nil {
				return nil
			}
		}
		return json.Unmarshal([]byte(v), s.to)
	}
	return fmt.Errorf("%T is no JSON", value)
}

// plainWords returns the words of a list as asJSON writes it, nil if they have
// anything that is escaped, as few have: it is an eighth of the work.
func plainWords(list string) []string {
	inner, begins := strings.CutPrefix(list, `["`)
	inner, ends := strings.CutSuffix(inner, `"]`)
	if !begins || !ends || strings.Contains(inner, `\`) {
		return nil
	}
	words := strings.Split(inner, `","`)
	if strings.Count(inner, `"`) != 2*(len(words)-1) {
		return nil
	}
	return words
}

package sqlite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
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

// listOrNull returns a list as it is stored: JSON, without the \u0026 for &
// that json.Marshal puts into every other address.
func listOrNull(list []string) (any, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(list); err != nil {
		return nil, err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// A list scans what listOrNull returns; NULL is nil.
type list struct{ strings *[]string }

func (l list) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*l.strings = nil
		return nil
	case string:
		return json.Unmarshal([]byte(v), l.strings)
	}
	return fmt.Errorf("%T is no list", value)
}

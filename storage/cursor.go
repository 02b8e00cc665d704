package storage

import (
	"encoding/base64"
	"encoding/json"
)

// PackCursor returns a cursor that says v: texts, times and finite numbers, or it
// panics.
func PackCursor(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// UnpackCursor reads into v what [PackCursor] was given. It returns [ErrBadCursor]
// for what is no cursor; whether it is one of this list is for the caller to see.
func UnpackCursor(cursor string, v any) error {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(text, v) != nil {
		return ErrBadCursor
	}
	return nil
}

package storage

import (
	"encoding/base64"
	"encoding/json"
)

// PackCursor encodes v as an opaque cursor. It panics if v contains anything but texts, times and finite
// numbers.
func PackCursor(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// UnpackCursor decodes a cursor of [PackCursor] into v. It returns [ErrBadCursor] for malformed cursors; the
// caller must check that the cursor belongs to its list.
func UnpackCursor(cursor string, v any) error {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(text, v) != nil {
		return ErrBadCursor
	}
	return nil
}

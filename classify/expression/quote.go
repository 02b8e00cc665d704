package expression

import "strings"

// Quote encloses s so that [Unquote] returns it. sign is a quotation mark.
func Quote(s, sign string) string {
	return sign + strings.NewReplacer(`\`, `\\`, sign, `\`+sign).Replace(s) + sign
}

// Unquote returns the text between the first and the last byte of s. A backslash escapes only itself and the
// quotation mark.
func Unquote(s string) string {
	sign, s := s[0], s[1:len(s)-1]
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if escapes(s[i:], sign) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapes reports whether s begins with a backslash that escapes a character.
func escapes(s string, sign byte) bool {
	return len(s) > 1 && s[0] == '\\' && (s[1] == '\\' || s[1] == sign)
}

// QuotedOffset returns the offset in the quoted text s of byte n of its unquoted text.
func QuotedOffset(s string, n int) int {
	at := 1
	for ; n > 0 && at < len(s)-1; n-- {
		if escapes(s[at:len(s)-1], s[0]) {
			at++
		}
		at++
	}
	return at
}

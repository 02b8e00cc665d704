package spam

import "strings"

// minPhone is the minimum number of digits of a phone number.
const minPhone = 10

// phones searches for phone numbers.
func (l *textStyle) phones(text string) {
	for i := 0; i < len(text) && l.premium == ""; i++ {
		c := text[i]
		if c != '+' && (c < '0' || c > '9') {
			continue
		}
		number, end := phoneAt(text, i)
		if end < len(text) && isLatin(text[end]) || i > 0 && (text[i-1] == '/' || text[i-1] == '.' || text[i-1] == '=' || text[i-1] == '-' || text[i-1] == '_' || text[i-1] == '#' || text[i-1] == ':') {
			number = "" // part of a URL, a version or a name
		}
		switch {
		case isPremium(number):
			l.premium = text[i:end]
		case isPhone(number) && l.phone == "":
			l.phone = text[i:end]
		}
		i = end - 1
	}
}

func isLatin(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// phoneAt returns the digits of the number that begins at i, including its plus sign, and its end. At most
// two separators may stand between digits.
func phoneAt(text string, i int) (digits string, end int) {
	var b [16]byte
	n, gap := 0, 0
	end = i + 1
	for j := i; j < len(text) && gap <= 2; j++ {
		switch c := text[j]; {
		case c >= '0' && c <= '9' || c == '+' && j == i:
			if n == len(b) {
				return "", j // too long for a phone number
			}
			b[n] = c
			n++
			gap, end = 0, j+1
		case c == ' ' || c == '-' || c == '(' || c == ')':
			gap++
		default:
			gap = 3
		}
	}
	if end < len(text) && (text[end] == '.' || text[end] == ':' || text[end] == '_') && end+1 < len(text) && text[end+1] >= '0' && text[end+1] <= '9' {
		return "", end
	}
	return string(b[:n]), end
}

// isPhone reports whether digits have the form of a phone number: with a plus sign, a leading zero, or the
// trunk prefix 1 or 8.
func isPhone(digits string) bool {
	switch n := len(digits); {
	case n < minPhone:
		return false
	case digits[0] == '+':
		return n >= 11 && n <= 14
	case digits[0] == '0':
		return n <= 11 && digits[1] != '0'
	case digits[0] == '8':
		return n == 11 && (digits[1] == '9' || digits[1] == '8' || digits[1] == '4')
	}
	return len(digits) == 11 && digits[:2] == "18" && digits[2] == digits[3] // 1-800, 1-888, ...
}

// isPremium reports whether a phone number is premium-rate: of Britain, where most such numbers are, America
// or Russia.
func isPremium(digits string) bool {
	if len(digits) != 11 {
		return false
	}
	for _, prefix := range []string{"090", "091", "098", "087", "0844", "0843", "1900", "8809"} {
		if strings.HasPrefix(digits, prefix) {
			return true
		}
	}
	return false
}

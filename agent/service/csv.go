package service

import (
	"strconv"
	"strings"
)

// CSVCell returns text as a CSV cell that no spreadsheet evaluates as a formula: other than in numbers, a
// leading =, +, -, @ or control character gets an apostrophe before it.
//
// Source: OWASP, CSV Injection.
func CSVCell(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil || text == "" || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return text
	}
	return "'" + text
}

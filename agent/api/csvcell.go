package api

import (
	"strconv"
	"strings"
)

// CSVCell returns a cell of a CSV file that no spreadsheet takes for a formula. A
// number is none, whatever it begins with.
//
// Source: OWASP, CSV Injection.
func CSVCell(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil || text == "" || !strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return text
	}
	return "'" + text
}

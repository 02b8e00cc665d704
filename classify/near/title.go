package near

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/text"
)

// maxTitle bounds the bytes of a stripped and folded title.
const maxTitle = 240

// separators stand between a title and a publisher's name.
var separators = []string{" - ", " – ", " — ", " | ", " :: ", " · ", " • ", " » "}

const (
	maxTail = 4 // words of a publisher's name
	minHead = 3 // words that must remain of a title
)

// strip returns the words of a title without the additions of wires, mirrors and publishers, in lower case
// and separated by single spaces; at most maxTitle bytes. A suffix with a digit stays: it may distinguish two
// items.
func (s *Settings) strip(title string) string {
	title = strings.TrimSpace(title)
	for range 2 { // "BREAKING: UPDATE 1-"
		title = s.cutHead(title)
	}
	for range 2 { // "... [updated] - Publisher"
		title = s.cutBrackets(cutTail(title))
	}
	return fold(title)
}

// fold returns the words of s separated by single spaces.
func fold(s string) string {
	var b strings.Builder
	for _, w := range text.Words(s[:min(len(s), 4*maxTitle)]) {
		if b.Len()+1+len(w.Text) > maxTitle {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
	}
	return b.String()
}

// cutHead removes "UPDATE 1-", "Guest post:" and a site's address before a colon.
func (s *Settings) cutHead(title string) string {
	at := strings.IndexAny(title, ":-–—]|")
	if at <= 0 || at > 60 {
		return title
	}
	_, size := utf8.DecodeRuneInString(title[at:])
	head, rest := title[:at], strings.TrimSpace(title[at+size:])
	if rest == "" {
		return title
	}
	if title[at] == ':' && isHost(head) {
		return rest
	}
	head = strings.ToLower(strings.TrimLeft(head, "[( "))
	head = strings.TrimRightFunc(head, func(r rune) bool { return unicode.IsDigit(r) || unicode.IsSpace(r) || r == '#' })
	if slices.Contains(s.Prefixes, head) {
		return rest
	}
	return title
}

// isHost reports whether s has the form of a host name: "example.org".
func isHost(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	if dot <= 0 || len(s)-dot < 3 || strings.ContainsAny(s, " /") {
		return false
	}
	return strings.Trim(strings.ToLower(s[dot+1:]), "abcdefghijklmnopqrstuvwxyz") == ""
}

// cutTail removes a publisher's name from the end of a title.
func cutTail(title string) string {
	at, size := -1, 0
	for _, sep := range separators {
		if i := strings.LastIndex(title, sep); i > at {
			at, size = i, len(sep)
		}
	}
	if at < 0 {
		return title
	}
	head, tail := title[:at], title[at+size:]
	words := len(strings.Fields(tail))
	heads := len(strings.Fields(head))
	if words > maxTail || heads < minHead || heads <= words || strings.ContainsFunc(tail, unicode.IsDigit) {
		return title
	}
	return head
}

// cutBrackets removes "[updated]" from the end of a title.
func (s *Settings) cutBrackets(title string) string {
	title = strings.TrimSpace(title)
	at := strings.LastIndexAny(title, "[(")
	if at <= 0 || !strings.HasSuffix(title, "]") && !strings.HasSuffix(title, ")") {
		return title
	}
	inside := strings.ToLower(title[at+1 : len(title)-1])
	inside = strings.TrimRightFunc(inside, func(r rune) bool { return unicode.IsDigit(r) || unicode.IsSpace(r) })
	if slices.Contains(s.Suffixes, inside) {
		return strings.TrimSpace(title[:at])
	}
	return title
}

package spam

import (
	"fmt"
	"strings"

	"feedmesh/classify/stem"
)

// verbs are the stems of what one does with a short number.
var verbs = setOf("txt text send sent repli reply sms смс отправ отправьт отправит пошл набер")

// units are the stems of what a call or a message is paid by.
var units = setOf("msg msgs min minut day txt text call wk week mob sms")

// currencies are the stems of money in words.
var currencies = setOf("usd eur gbp dollar pound euro euros руб рубл доллар гривн гривен евр $ £ € ₽")

func setOf(list string) map[string]bool {
	m := make(map[string]bool)
	for _, s := range strings.Fields(list) {
		m[s] = true
	}
	return m
}

// numbers weighs the numbers of a text that are words of their own: what to send
// a message to, and what it costs.
func (s *scales) numbers() {
	code, cost, sum := "", "", ""
	for i, w := range s.text {
		if len(w.Stem) < 2 || w.Stem[0] < '0' || w.Stem[0] > '9' {
			continue
		}
		digits := leadingDigits(w.Stem)
		rest := w.Stem[digits:]
		switch {
		case code == "" && rest == "" && isShortCode(w.Stem) && verbBefore(s.text[:i], w.Pos):
			code = w.Stem
		case cost == "" && (rest == "ppm" || rest == "pm" || rest == "p" || rest == "р") && (rest == "ppm" || followedBy(s.text[i+1:], w.Pos, units)):
			cost = w.Stem
		case sum == "" && rest == "" && followedBy(s.text[i+1:], w.Pos, currencies):
			sum = w.Stem
		}
	}
	if code != "" {
		s.look(shortCode, 1, "a message to "+code)
	}
	if cost != "" {
		s.look(tariff, 1, "it costs "+cost)
	}
	if sum != "" {
		s.look(money, 1, fmt.Sprintf("%s in money", sum))
	}
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// isShortCode reports whether digits are as many as a short number has, and no
// year.
func isShortCode(s string) bool {
	return len(s) >= 4 && len(s) <= 6 && !(len(s) == 4 && (s[:2] == "19" || s[:2] == "20"))
}

// verbBefore reports whether one of the ten words before pos is what one does
// with a short number.
func verbBefore(words []stem.Word, pos int) bool {
	for i := len(words) - 1; i >= 0 && pos-words[i].Pos <= 10; i-- {
		if verbs[words[i].Stem] {
			return true
		}
	}
	return false
}

// followedBy reports whether the next word is in set.
func followedBy(words []stem.Word, pos int, set map[string]bool) bool {
	return len(words) > 0 && words[0].Pos == pos+1 && set[words[0].Stem]
}

const (
	longTitle = 4  // stems of a title from which the text should share one
	longBody  = 60 // and of the text
)

// mismatch weighs that a long text shares no word with its title.
func (s *scales) mismatch() {
	if len(s.title) < longTitle || len(s.text) < longBody {
		return
	}
	for _, t := range s.title {
		for _, w := range s.text {
			if w.Stem == t.Stem {
				return
			}
		}
	}
	s.look(mismatched, 1, "between title and text")
}

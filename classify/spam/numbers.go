package spam

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"feedmesh/classify/stem"
)

// verbs are the stems of verbs used with a short code.
var verbs = setOf("txt text send sent repli reply sms смс отправ отправьт отправит пошл набер")

// units are the stems of billing units of calls and messages.
var units = setOf("msg msgs min minut day txt text call wk week mob sms")

// currencies are the stems of currency names, and signs.
var currencies = setOf("usd eur gbp dollar pound euro euros руб рубл доллар гривн гривен евр $ £ € ₽")

func setOf(list string) map[string]bool {
	m := make(map[string]bool)
	for _, s := range strings.Fields(list) {
		m[s] = true
	}
	return m
}

// scoreNumbers scores numbers that stand alone in a text: short codes, tariffs and amounts of money.
func scoreNumbers(s *scorer) {
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
		s.addSignal(shortCode, 1, "message to "+code)
	}
	if cost != "" {
		s.addSignal(tariff, 1, "cost "+cost)
	}
	if sum != "" {
		s.addSignal(money, 1, fmt.Sprintf("amount %s", sum))
	}
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// isTariff reports whether a token is an amount per billing unit: £1.50/msg.
func isTariff(token string) bool {
	_, unit, ok := strings.Cut(strings.ToLower(token), "/")
	return ok && units[strings.TrimRight(unit, ".,;:!?)")]
}

// isShortCode reports whether digits have the length of a short code and are not a year.
func isShortCode(s string) bool {
	return len(s) >= 4 && len(s) <= 6 && !isYear(s)
}

// isYear reports whether digits can be a year.
func isYear(s string) bool { return len(s) == 4 && (s[:2] == "19" || s[:2] == "20") }

// verbBefore reports whether one of the ten words before pos is a verb used with a short code.
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
	longTitle = 4  // stems of a title from which it should share a stem with the text
	longBody  = 60 // stems of the text, likewise

	bareWords  = 3 // words of a text up to which it may be nothing but a keyword
	bareWeight = 2 // minimum weight of the keyword
)

// scoreMismatch scores a long text that shares no word with its title, and a text that is only a listed
// keyword that the title does not mention, such as the name of a casino below a report about databases.
func scoreMismatch(s *scorer) {
	if len(s.title) == 0 || len(s.text) == 0 || sharesStem(s.title, s.text) {
		return
	}
	if len(s.title) >= longTitle && len(s.text) >= longBody {
		s.addSignal(mismatched, 1, "between title and text")
	}
	isKeyword := func(e evidence) bool { return e.field == "text" && e.points >= bareWeight }
	if i := slices.IndexFunc(s.evidence, isKeyword); i >= 0 && wordCount(s.text) <= bareWords {
		s.addSignal(bareKeyword, 1, "the text is only "+strconv.Quote(s.evidence[i].text))
	}
}

func sharesStem(title, text []stem.Word) bool {
	for _, t := range title {
		if slices.ContainsFunc(text, func(w stem.Word) bool { return w.Stem == t.Stem }) {
			return true
		}
	}
	return false
}

package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Title returns the title of a feed item as one line of at most limit bytes: the result of the function
// [Title] without the feed's own title at its end, and with all-caps titles in sentence case.
func (r *Rules) Title(title, feedTitle string, limit int) string {
	s := Title(title, 4*limit) // spare length for the parts that are removed
	if r.document.Titles.CutSite {
		s = cutSite(s, Title(feedTitle, 4*limit))
	}
	if r.document.Titles.Calm {
		s = r.sentenceCase(s)
	}
	return strings.TrimSpace(cut(s, limit))
}

// separators occur between a title and the title of its site.
var separators = []string{" - ", " – ", " — ", " | ", " :: ", " · ", " • ", " » ", " « "}

// cutSite removes the site's title from the end of an item's title, repeatedly, unless nothing else would be
// left.
func cutSite(title, site string) string {
	for site != "" {
		start := len(title) - len(site)
		if start <= 0 || !strings.EqualFold(title[start:], site) {
			break
		}
		rest := title[:start]
		for _, separator := range separators {
			rest = strings.TrimSuffix(rest, separator)
		}
		if rest = strings.TrimSpace(rest); rest == "" || len(rest) == len(strings.TrimSpace(title[:start])) {
			break
		}
		title = rest
	}
	return title
}

const (
	minCapsWords   = 3  // words in a title for it to count as all-caps
	minCapsLetters = 12 // letters, likewise
)

// sentenceCase returns an all-caps title in sentence case. A title of mostly acronyms stays unchanged, and
// acronyms in other titles stay in upper case.
func (r *Rules) sentenceCase(title string) string {
	letters, words, acronyms := 0, 0, 0
	for _, c := range title {
		switch {
		case unicode.IsLower(c), unicode.IsLetter(c) && !unicode.IsUpper(c): // other scripts have no case
			return title
		case unicode.IsUpper(c):
			letters++
		}
	}
	for at := range eachWord(title) {
		word := title[at.start:at.end]
		if strings.Trim(word, "0123456789") == "" {
			continue // numbers do not count
		}
		words++
		if r.isAcronym(word) {
			acronyms++
		}
	}
	if letters < minCapsLetters || words < minCapsWords || 2*acronyms >= words {
		return title
	}
	var b strings.Builder
	pos, begins := 0, true
	for at := range eachWord(title) {
		between := title[pos:at.start]
		begins = begins || strings.ContainsAny(between, ".!?") && strings.Contains(between, " ")
		b.WriteString(between)
		b.WriteString(r.sentenceWord(title[at.start:at.end], begins))
		pos, begins = at.end, false
	}
	b.WriteString(title[pos:])
	return b.String()
}

// sentenceWord returns a word in lower case, in upper case if it is an acronym, or capitalized at the
// beginning of a sentence.
func (r *Rules) sentenceWord(word string, begins bool) string {
	if r.isAcronym(word) || word == "I" || strings.HasPrefix(word, "I'") || strings.HasPrefix(word, "I’") {
		head, tail, ok := cutAny(word, "'’") // NASA's
		if !ok {
			return word
		}
		return head + lower(tail)
	}
	if !begins {
		return lower(word)
	}
	_, size := utf8.DecodeRuneInString(word)
	return word[:size] + lower(word[size:])
}

// lower returns s in lower case, with the final form of sigma at its end.
func lower(s string) string {
	s = strings.ToLower(s)
	if stem, ok := strings.CutSuffix(s, "σ"); ok && stem != "" {
		return stem + "ς"
	}
	return s
}

// cutAny cuts s before the first of the characters.
func cutAny(s, characters string) (head, tail string, found bool) {
	at := strings.IndexAny(s, characters)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at:], true
}

// isAcronym reports whether a word is always in upper case: an acronym of the rules, or a word with a digit
// or without a vowel.
func (r *Rules) isAcronym(word string) bool {
	word, _, _ = cutAny(word, "'’")
	if r.acronyms[word] || strings.ContainsAny(word, "0123456789") {
		return true
	}
	return utf8.RuneCountInString(word) > 1 && !strings.ContainsFunc(word, isVowel)
}

func isVowel(c rune) bool {
	if c < utf8.RuneSelf {
		return strings.ContainsRune("AEIOUY", c)
	}
	// For Cyrillic the consonants are listed; other non-ASCII letters are accented, and accents are on
	// vowels.
	return !strings.ContainsRune("БВГДЖЗЙКЛМНПРСТФХЦЧШЩЬЪ", c)
}

// eachWord yields the ranges of the words of s: letters, digits and apostrophes.
func eachWord(s string) func(func(span) bool) {
	return func(yield func(span) bool) {
		start := -1
		for i, c := range s {
			inside := unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) || start >= 0 && (c == '\'' || c == '’')
			switch {
			case inside && start < 0:
				start = i
			case !inside && start >= 0:
				if !yield(span{start, i}) {
					return
				}
				start = -1
			}
		}
		if start >= 0 {
			yield(span{start, len(s)})
		}
	}
}

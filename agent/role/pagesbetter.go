package role

import (
	"unicode"
	"unicode/utf8"

	"feedmesh/agent/page"
	"feedmesh/classify/text"
	"feedmesh/subjects"
)

const (
	clearly   = 1.5 // times as long as the feed's text must an article be
	longer    = 200 // characters that it must be longer besides
	fewWords  = 8   // less than which are no summary
	sameWords = 0.5 // share of the words of title or summary that an article has in it
)

// better reports whether an article is clearly longer than what the feed gave of
// an entry, and about the same: most pages that are not the entry's own, such as
// those that ask for consent or a subscription, do not speak of what it does.
func better(e subjects.Entry, found page.Found) bool {
	had := text.Plain(e.HTML)
	n := float64(utf8.RuneCountInString(had))
	if have := float64(utf8.RuneCountInString(found.Text)); have < clearly*n || have < n+longer {
		return false
	}
	title, summary, article := rootsOf(text.Title(e.Title, maxTitle)), rootsOf(had+"\n"+text.Plain(e.Summary)), rootsOf(found.Text)
	return share(title, article) >= sameWords || len(summary) >= fewWords && share(summary, article) >= sameWords
}

// rootsOf returns how the longer words of a text begin, which stays as it is when
// they change their form, in any language in which words do. Of Chinese and
// Japanese it returns the characters that have a meaning of their own.
func rootsOf(plain string) map[string]bool {
	roots := map[string]bool{}
	for _, w := range text.Words(plain) {
		switch word := []rune(w.Text); {
		case len(word) >= 4:
			roots[string(word[:max(3, min(5, len(word)-2))])] = true
		case len(word) == 1 && unicode.Is(unicode.Han, word[0]):
			roots[w.Text] = true
		}
	}
	return roots
}

// share returns how many of the words are among the others: 0 to 1, and 0 if there
// are none.
func share(words, others map[string]bool) float64 {
	n := 0
	for w := range words {
		if others[w] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(words)))
}

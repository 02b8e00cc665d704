package site

import (
	"unicode"
	"unicode/utf8"

	"feedmesh/agent/role/crawl/page"
	"feedmesh/agent/role/work"
	"feedmesh/classify/text"
)

const (
	minLengthRatio  = 1.5 // minimum ratio of the article's length to the feed's text
	minExtraChars   = 200 // minimum difference of the lengths, in characters
	minSummaryWords = 8   // summaries with fewer words are not compared
	minSharedWords  = 0.5 // share of the title's or summary's words that the article must contain
)

// IsFuller reports whether an article is clearly longer than the feed's text of an entry and about the same
// subject; summary may be empty. Most other pages, such as consent or subscription pages, share few words with the entry.
func IsFuller(title, html, summary string, found page.Article) bool {
	had := text.PlainText(html)
	n := float64(utf8.RuneCountInString(had))
	if have := float64(utf8.RuneCountInString(found.Text)); have < minLengthRatio*n || have < n+minExtraChars {
		return false
	}
	ofTitle, ofSummary, article := wordStems(text.Title(title, work.MaxTitle)), wordStems(had+"\n"+text.PlainText(summary)), wordStems(found.Text)
	return sharedPart(ofTitle, article) >= minSharedWords || len(ofSummary) >= minSummaryWords && sharedPart(ofSummary, article) >= minSharedWords
}

// wordStems returns prefixes of the longer words of a text, which stay the same under inflection in most
// languages. For Chinese and Japanese it returns single Han characters.
func wordStems(plain string) map[string]bool {
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

// sharedPart returns the part of words that others contains, 0 to 1; 0 if words is empty.
func sharedPart(words, others map[string]bool) float64 {
	n := 0
	for w := range words {
		if others[w] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(words)))
}

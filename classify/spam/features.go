package spam

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// learnedFeatures returns the features for learning. For an item these are its stems. For a message, which is short,
// they are all of its words, including stop words and pairs, and the lengths of its numbers: people write "i"
// and "me", spam writes "your" and "call #11".
func learnedFeatures(s *scorer) iter.Seq[string] {
	if s.message {
		return slices.Values(messageFeatures(s.doc.Text, s.doc.Language))
	}
	return func(yield func(string) bool) {
		for _, words := range [...][]stem.Word{s.title, s.text} {
			for _, w := range words {
				if !yield(w.Stem) {
					return
				}
			}
		}
	}
}

const (
	maxMessage = 2000 // bytes of a message used for features

	// minNumber is the minimum length of a number used for features. Short codes and phone numbers are longer
	// than most numbers of other texts: learned from text messages, "%3" would count against each address,
	// version and year.
	minNumber = 4
)

func messageFeatures(text, language string) (list []string) {
	text = strings.ToLower(text[:min(len(text), maxMessage)])
	for _, a := range addressesIn(text) { // link targets are scored separately
		text = strings.Replace(text, a, " ", 1)
	}
	last := ""
	add := func(word string) {
		if list = append(list, word); last != "" {
			list = append(list, last+"_"+word)
		}
		last = word
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i + size
		switch {
		case r >= '0' && r <= '9':
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			if end-i < minNumber || isYear(text[i:end]) {
				last = ""
			} else {
				add("%" + strconv.Itoa(min(end-i, 12)))
			}
		case unicode.IsLetter(r):
			for end < len(text) {
				next, n := utf8.DecodeRuneInString(text[end:])
				if !unicode.IsLetter(next) && next != '\'' {
					break
				}
				end += n
			}
			add(stem.Of(strings.Trim(text[i:end], "'"), language))
		case strings.ContainsRune("£$€₽", r):
			add("£")
		case r == '!' || r == '?' || r == '&' || r == '+':
			add(string(r))
		}
		i = end
	}
	return list
}

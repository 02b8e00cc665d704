package eval

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An edit derives a title from another; make returns "" if it does not apply.
type edit struct {
	name string
	make func(title string, random *rand.Rand) string
}

// edits are typical changes of titles between feeds.
var edits = []edit{
	{"case, punctuation", func(title string, _ *rand.Rand) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsPunct(r) && r != '.' && r != '\'' && r != '’' {
				return ' '
			}
			return unicode.ToUpper(r)
		}, title)
	}},
	{"publisher", func(title string, random *rand.Rand) string {
		tails := []string{" - Reuters", " | Daily Mail Online", " - Los Angeles Times", " – Habr", " - MarketWatch", " | The Verge"}
		return title + tails[random.IntN(len(tails))]
	}},
	{"wire's head", func(title string, random *rand.Rand) string {
		return "UPDATE " + strconv.Itoa(1+random.IntN(3)) + "-" + title
	}},
	{"cut at 60", func(title string, _ *rand.Rand) string {
		if utf8.RuneCountInString(title) < 65 {
			return ""
		}
		cut := string([]rune(title)[:60])
		return cut[:max(strings.LastIndexByte(cut, ' '), 1)] + "..."
	}},
	{"typing error", func(title string, random *rand.Rand) string {
		words := strings.Fields(title)
		at := longWord(words, random)
		if at < 0 {
			return ""
		}
		w := []rune(words[at])
		i := 1 + random.IntN(len(w)-2)
		w[i], w[i+1] = w[i+1], w[i]
		words[at] = string(w)
		return strings.Join(words, " ")
	}},
	{"word replaced", func(title string, random *rand.Rand) string {
		words := strings.Fields(title)
		at := longWord(words, random)
		if at < 0 || len(words) < 5 {
			return ""
		}
		others := []string{"report", "company", "people", "launch", "record", "plans"}
		words[at] = others[random.IntN(len(others))]
		return strings.Join(words, " ")
	}},
	{"halves swapped", func(title string, _ *rand.Rand) string {
		words := strings.Fields(title)
		if len(words) < 6 {
			return ""
		}
		return strings.Join(slices.Concat(words[len(words)/2:], words[:len(words)/2]), " ")
	}},
}

// longWord returns the index of a word of four letters or more, -1 if the title has no such word.
func longWord(words []string, random *rand.Rand) int {
	begin := random.IntN(len(words))
	for i := range words {
		at := (begin + i) % len(words)
		if utf8.RuneCountInString(words[at]) >= 4 && !strings.ContainsFunc(words[at], func(r rune) bool { return !unicode.IsLetter(r) }) {
			return at
		}
	}
	return -1
}

// otherNumber returns the title with another last digit in its last number, such as "7.3" for "7.1"; "" if it
// has no number.
func otherNumber(title string, random *rand.Rand) string {
	at := strings.LastIndexAny(title, "0123456789")
	if at < 0 {
		return ""
	}
	other := '0' + (title[at]-'0'+1+byte(random.IntN(9)))%10
	return title[:at] + string(rune(other)) + title[at+1:]
}

package date

import "strings"

// forms is the table of the forms of a day in digits and signs only, except those whose order of day and month
// must be found out. A new form is a row. Of several patterns that match, the first counts: longer ones precede
// their beginnings.
//
// In a pattern, runs of letters stand for digits: y year, m month, d day, o day of the year, w week, e day of the
// week, t clock. The sign - and the letter W stand for themselves. No white space is between them.
var forms = [...]struct {
	pattern string
	before  context
}{
	{"yyyymmddtttttt", anything}, // 20260304050607
	{"yyyymmdd", anything},       // 20260304
	{"yyyyooo", anything},        // 2026063
	{"yyyy-Wwwe", anything},      // 2026-W103
	{"yyyy-Www-e", anything},     // 2026-W10-3
	{"yyyy-Www", anything},       // 2026-W10
	{"yyyyWwwe", anything},       // 2026W103
	{"yyyyWww-e", anything},      // 2026W10-3
	{"yyyyWww", anything},        // 2026W10
	{"yyyy-ooo", noDash},         // 2026-063
	{"yyyy-mm", end},             // 2026-03, a month
}

// A context is a condition on the text after a form.
type context uint8

const (
	anything context = iota
	noDash           // none follows without white space
	end              // of the date, which has no clock
)

// formed is the numbers of a form, by their letters in its pattern.
type formed struct {
	number [1 + 'z' - 'a']int
	clock  string // digits
}

func (f *formed) at(letter byte) *int { return &f.number[letter-'a'] }

// match returns the numbers of a pattern that the tokens from i on have, and the count of tokens, or 0.
func (t *tokens) match(pattern string, i int) (f formed, n int) {
	for ; pattern != ""; n++ {
		tok, length := t.at(i+n), max(1, strings.IndexAny(pattern+"-", "-W"))
		part := pattern[:length]
		pattern = pattern[length:]
		isSign := part == "-" || part == "W"
		if n > 0 && !t.adjacent(i+n) || isSign == (tok.kind == digits) || len(tok.text) != length || isSign && !strings.EqualFold(tok.text, part) {
			return f, 0
		}
		for k := 0; !isSign && k < length; k++ {
			if part[k] == 't' {
				f.clock = tok.text[k:]
				break
			}
			at := f.at(part[k])
			*at = *at*10 + int(tok.text[k]-'0')
		}
	}
	return f, n
}

// day returns the day of a pattern's numbers.
func (f *formed) day(pattern string) (civil, bool) {
	year := *f.at('y')
	switch {
	case strings.Contains(pattern, "e"):
		return ofWeek(year, *f.at('w'), *f.at('e'))
	case strings.Contains(pattern, "w"):
		return ofWeek(year, *f.at('w'), 1)
	case strings.Contains(pattern, "o"):
		return ofOrdinal(year, *f.at('o'))
	case strings.Contains(pattern, "d"):
		return civil{year, *f.at('m'), *f.at('d')}, true
	}
	return civil{year, *f.at('m'), 1}, true
}

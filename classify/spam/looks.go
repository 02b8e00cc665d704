package spam

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	minLetters = 15 // of a text whose capitals say something
	manyMixed  = 4  // words of two scripts that are no slip any more
	manyHidden = 3  // hidden signs inside words

	noBreak = '\u00A0' // a space all the same
)

// A look is how a text looks, whatever it says.
type look struct {
	letters, capitals, exclamations, size int

	amount    string   // the first sum of money
	phone     string   // the first number to call
	premium   string   // the first such number that is dear
	disguised []string // what bad words were written as, and the words; at most 4 of each
	mixed     int      // words in two scripts that look like one
	hidden    int      // signs inside words that nobody sees
}

// looks weighs how title and text look.
func (s *scales) looks(x *index) {
	var title, all look
	title.read(s.doc.Title, x)
	all.read(s.doc.Text, x)
	share := max(shouting(title), shouting(all))
	s.look(capitals, share, "too many")
	all.exclamations += title.exclamations
	all.size += title.size
	if n := all.exclamations - 1; n > 0 { // one is an exclamation
		s.look(exclamations, min(1, 60*float64(n)/float64(all.size)), fmt.Sprint(n+1))
	}
	if amount := cmp.Or(title.amount, all.amount); amount != "" {
		s.look(money, 1, amount)
	}
	for _, l := range []look{title, all} {
		for i := 0; i < len(l.disguised); i += 2 {
			s.look(disguised, 1, fmt.Sprintf("%q for %q", l.disguised[i], l.disguised[i+1]))
		}
		if l.premium != "" {
			s.look(premiumPhone, 1, l.premium)
		} else if l.phone != "" {
			s.look(phone, 1, l.phone)
		}
	}
	if n := title.mixed + all.mixed; n > 0 {
		s.look(mixedScripts, min(1, float64(n)/manyMixed), fmt.Sprintf("in %d words", n))
	}
	if n := title.hidden + all.hidden; n > 0 {
		s.look(hiddenSigns, min(1, float64(n)/manyHidden), fmt.Sprintf("%d times", n))
	}
}

// shouting returns how much of a text is in capitals, 0 to 1: none up to a share
// of three in ten, all from seven in ten.
func shouting(l look) float64 {
	if l.letters < minLetters {
		return 0
	}
	return min(1, max(0, float64(l.capitals)/float64(l.letters)-0.3)/0.4)
}

// read looks at a text, one stretch without spaces after the other.
func (l *look) read(text string, x *index) {
	l.size = len(text)
	digits := 0
	for i := 0; i < len(text); {
		if text[i] <= ' ' {
			i++
			continue
		}
		start := i
		var f features
		for size := 0; i < len(text) && text[i] > ' '; i += size {
			c := text[i]
			if size = 1; c < utf8.RuneSelf {
				f.ascii(c)
				continue
			}
			var r rune
			if r, size = utf8.DecodeRuneInString(text[i:]); r == noBreak {
				if i == start {
					i += size
				}
				break
			}
			f.rune(r)
		}
		l.letters += f.latin + f.cyrillic + f.others
		l.capitals += f.capitals
		l.exclamations += min(f.exclamations, 3)
		digits += f.digits
		if f.isOdd() {
			l.stretch(text[start:i], f, x)
		}
	}
	if digits >= minPhone {
		l.phones(text)
	}
}

// features are what one stretch of a text has.
type features struct {
	latin, cyrillic, others, capitals, exclamations int

	digits, signs, separators, currency, hidden int
}

// isOdd reports whether a stretch has anything in it that is no letter of one script.
func (f *features) isOdd() bool {
	return f.digits+f.signs+f.exclamations+f.separators+f.currency+f.hidden > 0 || f.latin > 0 && f.cyrillic > 0
}

func (f *features) ascii(c byte) {
	switch {
	case c >= 'a' && c <= 'z':
		f.latin++
	case c >= 'A' && c <= 'Z':
		f.latin++
		f.capitals++
	case c >= '0' && c <= '9':
		f.digits++
	case c == '!':
		f.exclamations++
	case c == '$':
		f.currency++
		f.signs++
	case c == '@' || c == '|':
		f.signs++
	case c == '*' || c == '.' || c == '_' || c == '-':
		f.separators++
	}
}

func (f *features) rune(r rune) {
	switch {
	case r >= 'а' && r <= 'я' || r == 'ё':
		f.cyrillic++
	case r >= 'А' && r <= 'Я' || r == 'Ё':
		f.cyrillic++
		f.capitals++
	case isUnseen(r):
		f.hidden++
	case strings.ContainsRune("£€₽₴₹", r):
		f.currency++
	case unicode.IsLetter(r):
		f.others++
		if unicode.IsUpper(r) {
			f.capitals++
		}
	}
}

// isUnseen reports whether r takes no room and says nothing.
func isUnseen(r rune) bool {
	return r >= 0x200B && r <= 0x200D || r == 0x2060 || r == 0xFEFF
}

package spam

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	minLetters = 15 // of a text, for its capitals to count
	manyMixed  = 4  // words of two scripts from which the signal is full
	manyHidden = 3  // hidden characters inside words from which the signal is full

	noBreak = '\u00A0' // treated as a space
)

// A textStyle summarizes the appearance of a text, independent of its meaning.
type textStyle struct {
	letters, capitals, exclamations, size int

	amount    string   // first amount of money
	tariff    string   // first amount per message or minute
	phone     string   // first phone number
	premium   string   // first premium-rate number
	disguised []string // pairs of a disguised token and the listed word; at most 4 pairs
	mixed     int      // words of two scripts with lookalike letters
	hidden    int      // invisible characters inside words
}

// scoreStyle scores the appearance of title and text.
func scoreStyle(s *scorer, x *index) {
	var title, all textStyle
	title.read(s.doc.Title, x)
	all.read(s.doc.Text, x)
	share := max(shouting(title), shouting(all))
	s.addSignal(capitals, share, "too many")
	all.exclamations += title.exclamations
	all.size += title.size
	if n := all.exclamations - 1; n > 0 { // a single one is normal
		s.addSignal(exclamations, min(1, 60*float64(n)/float64(all.size)), fmt.Sprint(n+1))
	}
	if amount := cmp.Or(title.amount, all.amount); amount != "" {
		s.addSignal(money, 1, amount)
	}
	if price := cmp.Or(title.tariff, all.tariff); price != "" {
		s.addSignal(tariff, 1, "cost "+price)
	}
	for _, l := range []textStyle{title, all} {
		for i := 0; i < len(l.disguised); i += 2 {
			s.addSignal(disguised, 1, fmt.Sprintf("%q for %q", l.disguised[i], l.disguised[i+1]))
		}
		if l.premium != "" {
			s.addSignal(premiumPhone, 1, l.premium)
		} else if l.phone != "" {
			s.addSignal(phone, 1, l.phone)
		}
	}
	if n := title.mixed + all.mixed; n > 0 {
		s.addSignal(mixedScripts, min(1, float64(n)/manyMixed), fmt.Sprintf("in %d words", n))
	}
	if n := title.hidden + all.hidden; n > 0 {
		s.addSignal(hiddenSigns, min(1, float64(n)/manyHidden), fmt.Sprintf("%d times", n))
	}
}

// shouting returns the strength of the capitals signal, 0 to 1: none up to three capitals in ten letters,
// full from seven in ten.
func shouting(l textStyle) float64 {
	if l.letters < minLetters {
		return 0
	}
	return min(1, max(0, float64(l.capitals)/float64(l.letters)-0.3)/0.4)
}

// read examines a text token by token.
func (l *textStyle) read(text string, x *index) {
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
			l.inspectToken(text[start:i], f, x)
		}
	}
	if digits >= minPhone {
		l.phones(text)
	}
}

// features count the characters of a token.
type features struct {
	latin, cyrillic, others, capitals, exclamations int

	digits, signs, separators, currency, hidden int
}

// isOdd reports whether a token contains anything but letters of one script.
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
	case isHidden(r):
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

// isHidden reports whether r is invisible and has no width.
func isHidden(r rune) bool {
	return r >= 0x200B && r <= 0x200D || r == 0x2060 || r == 0xFEFF
}

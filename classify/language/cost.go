package language

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Costs of characters that the model has none for, in nats.
const (
	missingCost     = 10.0 // a letter that no language of its script has
	typographicCost = 3.0
	symbolCost      = 7.0
	invalidCost     = 14.0 // U+FFFD and controls
	joinCost        = 5.0  // a sign between two letters
	mixCost         = 20.0 // two scripts in a word
	capitalCost     = 2.0  // a capital after a small letter
	priorDiscount   = 8.0  // for the declared language
	misreadCost     = 6.0  // a letter of misread
)

// misread are letters that a language does not have, but the model knows in it, because many of the texts that it
// was trained on were read in windows-1252.
var misread = map[string]string{"hu": "õû", "et": "ðþ"}

// Cost returns how unlikely a text is, in nats: the letters of each script in the language in which they are most
// likely, and fixed costs for other characters outside of ASCII. It serves to compare what the same bytes mean
// in several encodings. prior is the declared language, in any spelling, or empty. All of the text is read.
// Concurrent workers may call Cost and share the cached models.
func Cost(text, prior string) float64 {
	c := costs{sums: make(map[*script][]int), letters: make(map[rune]int)}
	for token := range strings.FieldsSeq(text) {
		c.add(token)
	}
	prior = Normalize(prior)
	for s, sums := range c.sums {
		least := math.Inf(1)
		for l, sum := range sums {
			lang := models()[s.name].languages[l]
			cost := float64(sum)*step + misreadCost*float64(c.count(misread[lang]))
			if lang == prior {
				cost -= priorDiscount
			}
			least = min(least, cost)
		}
		c.others += least
	}
	return c.others
}

// costs adds up the costs of words, in steps in each language of each script, and those of other characters.
type costs struct {
	sums    map[*script][]int
	others  float64
	letters map[rune]int // number of each letter outside of ASCII
}

// count returns the number of the letters in a list.
func (c *costs) count(list string) (n int) {
	for _, r := range list {
		n += c.letters[r]
	}
	return n
}

// add adds a token, which contains no white space.
func (c *costs) add(token string) {
	var before *script // of the letter before, nil for none
	start, last := 0, ' '
	for i := 0; i < len(token); {
		r, size := utf8.DecodeRuneInString(token[i:])
		s := scriptOf(r)
		if s != before {
			if before != nil {
				c.word(token[start:i], before)
			}
			if before != nil && s != nil {
				c.others += mixCost
			}
			start = i
		}
		if s != nil && r >= utf8.RuneSelf {
			c.letters[unicode.ToLower(r)]++
		}
		switch {
		case s != nil && s == before && unicode.IsUpper(r) && unicode.IsLower(last):
			c.others += capitalCost
		case s == nil && r >= utf8.RuneSelf:
			next, _ := utf8.DecodeRuneInString(token[i+size:])
			c.sign(r, before != nil && scriptOf(next) != nil)
		}
		before, last = s, r
		i += size
	}
	if before != nil {
		c.word(token[start:], before)
	}
}

// sign adds a character that is not a letter.
func (c *costs) sign(r rune, joins bool) {
	switch {
	case r == utf8.RuneError || unicode.IsControl(r):
		c.others += invalidCost
		return
	case strings.ContainsRune("’·\u00ad", r): // these occur within words
		c.others += typographicCost
		return
	case strings.ContainsRune("“”„‘‚–—…«»\u00a0•", r):
		c.others += typographicCost
	default:
		c.others += symbolCost
	}
	if joins {
		c.others += joinCost
	}
}

// word adds a word of one script.
func (c *costs) word(w string, s *script) {
	m := models()[s.name]
	if m == nil {
		c.others += s.rankCost(w)
		return
	}
	sums := c.sums[s]
	if sums == nil {
		sums = make([]int, len(m.languages))
		c.sums[s] = sums
	}
	if missing := utf8.RuneCountInString(w) + 1 - m.add(sums, w, 1); missing > 0 {
		c.others += float64(missing) * missingCost
	}
}

// letterRanks are the letters of scripts without a model by frequency, most frequent first.
var letterRanks = map[string]string{
	"el": "αοιετσνηυρπκμλςωίόάδγέχθήφβύξζώψϊϋΐΰ",
	"he": "יוהלאתרבמשנדםכקעחפטגסזצןץךף",
	"th": "า่นรอกเ้งมัยลีวดิทสตะปบค์หแจพืชขุใไูึโผซ็ธศณถำภษญฉๆฟฐฆฤฝฎฬฌฏฑฒฮฯํ๊๋",
}

// rankCost returns the cost of a word of a script without a model. The probability of a letter follows from its
// rank by Zipf's law. Without ranks all letters cost the same.
func (s *script) rankCost(w string) float64 {
	const offset = 3.0 // flattens the law for the most frequent letters
	ranks := letterRanks[s.name]
	all := utf8.RuneCountInString(ranks)
	norm := math.Log(math.Log((float64(all) + offset) / offset))
	cost := 0.0
	for _, r := range w {
		i := strings.IndexRune(ranks, unicode.ToLower(r))
		if i < 0 {
			cost += missingCost
			continue
		}
		cost += norm + math.Log(float64(utf8.RuneCountInString(ranks[:i]))+offset)
	}
	return cost
}

package across

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
	"feedmesh/classify/story"
)

// Read prepares a title in a language of [Languages].
func Read(title, lang string) Title {
	r := reader{language: lang, tokens: split(title[:min(len(title), MaxTitle)])}
	r.titleCased = lang == "en" && isTitleCased(r.tokens)
	for r.at < len(r.tokens) {
		r.step()
	}
	return Title{language: lang, terms: r.terms}
}

// A token is a run of letters, digits and the signs inside of words.
type token struct {
	text   string // as written
	begins bool   // first of a sentence
	before string // sign before it, such as "$"
	after  string // sign behind it, such as "%"
}

// split returns the tokens of a title.
func split(s string) (tokens []token) {
	start, begins, before := -1, true, ""
	flush := func(end int) {
		if start < 0 {
			return
		}
		if text := strings.Trim(s[start:end], "-.,'’"); text != "" {
			tokens = append(tokens, token{text: text, begins: begins, before: before})
			begins = strings.HasSuffix(s[start:end], ".") && len(text) > 2
		}
		start, before = -1, ""
	}
	for i, r := range s {
		inner := strings.ContainsRune("-.,'’", r)
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '+' || r == '_' || inner && start >= 0:
			if start < 0 {
				start = i
			}
		default:
			flush(i)
			switch {
			case strings.ContainsRune(":?!«\"“", r):
				begins = true
			case strings.ContainsRune("$€£₽", r):
				before = string(r)
			case r == '%' && len(tokens) > 0:
				tokens[len(tokens)-1].after = "%"
			}
		}
	}
	flush(len(s))
	return tokens
}

// isTitleCased reports whether most long words begin with a capital, so that capitals do not indicate names.
func isTitleCased(tokens []token) bool {
	long, capitals := 0, 0
	for _, t := range tokens {
		if utf8.RuneCountInString(t.text) >= 4 && !t.begins {
			long++
			if isCapital(t.text) {
				capitals++
			}
		}
	}
	return 3*capitals > 2*long && long > 3
}

func isCapital(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// A reader converts the tokens of a title to terms.
type reader struct {
	language   string
	tokens     []token
	titleCased bool
	at         int
	terms      []term
	product    *term // name before the current token
}

// step reads the next token, or several that are one number.
func (r *reader) step() {
	t := r.tokens[r.at]
	if value, used, unit, ok := r.number(); ok {
		r.addNumber(value, unit)
		r.at += used
		return
	}
	r.at++
	word := fold(t.text)
	if n, ok := roman[t.text]; ok && r.product != nil {
		r.add(term{text: n, kind: isVersion, product: r.product, weight: versionWeight})
		return
	}
	if name, version, ok := cutVersion(word); ok {
		product := r.word(token{text: name, begins: t.begins}, name)
		product.kind, product.weight = isName, max(product.weight, 0.5)
		if len(name) > 1 {
			r.add(product)
		}
		r.add(term{text: version, kind: isVersion, product: &product, weight: versionWeight})
		r.product = &product
		return
	}
	if strings.Contains(word, "-") && !isKnown(word, r.language) { // each part of a compound
		from := len(r.terms)
		for i, part := range strings.Split(t.text, "-") {
			r.addWord(token{text: part, begins: t.begins && i == 0})
		}
		for i := from; i < len(r.terms); i++ {
			r.terms[i].weight *= partWeight
		}
		return
	}
	r.addWord(t)
}

// partWeight is the weight of a part of a compound, by that of a word.
const partWeight = 0.6

func (r *reader) addWord(t token) {
	word := strings.TrimSuffix(strings.TrimSuffix(fold(t.text), "'s"), "’s")
	if r.product != nil && (word == "и" || word == "and") { // "5.6.0 and 5.6.1" are versions of one product
		return
	}
	r.product = nil
	word = strings.TrimSuffix(word, ".js")
	if word == "" || stem.StopWords(r.language)[word] && !isKnown(word, r.language) {
		return
	}
	x := r.word(t, word)
	r.add(x)
	if x.kind == isName {
		r.product = &x
	}
}

// word returns the term of a word.
func (r *reader) word(t token, word string) term {
	x := term{text: word, concepts: conceptsOf(word, r.language), weight: wordWeight}
	cyrillic := isCyrillic(word)
	if len(x.concepts) > 0 {
		x.weight = conceptWeight
		for _, c := range x.concepts {
			if c.name {
				x.kind = isName
			}
			x.weight = max(x.weight, c.weight())
		}
		return x
	}
	capital := isCapital(t.text) && !t.begins && !r.titleCased
	allCapitals := len(t.text) > 1 && t.text == strings.ToUpper(t.text)
	switch {
	case cyrillic:
		x.sound = soundOf(stem.Of(word, "ru"))
		if capital || allCapitals {
			x.kind, x.weight = isName, 1
		}
	case r.language == "ru", capital, allCapitals, hasDigit(word): // Latin letters in a Russian title are a name
		x.kind, x.weight, x.sound = isName, rarity(word), soundOf(word)
	case t.begins || r.titleCased:
		x.kind, x.weight, x.sound = isName, 0.6*rarity(word), soundOf(word)
	default:
		x.sound = soundOf(word)
		if r.language == "en" && x.sound != "" {
			x.kind = isWord
		}
	}
	return x
}

// rarity returns the weight of a name, 0.4 to 1: less if it is in any month's news.
func rarity(word string) float64 {
	share := story.Default().Common.Share(word, "en")
	if share == 0 {
		return 1
	}
	return max(0.4, math.Log(share)/math.Log(1.0/2000))
}

func (r *reader) add(x term) {
	for i, have := range r.terms {
		if have.text == x.text && isNumeric(have.kind) == isNumeric(x.kind) {
			r.terms[i].weight = max(have.weight, x.weight)
			return
		}
	}
	r.terms = append(r.terms, x)
}

func (r *reader) addNumber(value, unit string) {
	year := len(value) == 4 && (strings.HasPrefix(value, "19") || strings.HasPrefix(value, "20"))
	if r.product != nil && unit == "" && (!year || strings.Contains(value, ".")) && len(value) < 8 {
		r.add(term{text: value, kind: isVersion, product: r.product, weight: versionWeight})
		return
	}
	r.product = nil
	r.add(term{text: value, kind: isNumber, unit: unit, weight: numberWeight})
}

// number reads a number with its magnitude and unit: "68,7 млрд долларов", "$18,000", "14 000 человек".
func (r *reader) number() (value string, used int, unit string, ok bool) {
	t := r.tokens[r.at]
	digits, magnitude := cutMagnitude(cutOrdinal(fold(t.text)))
	f, plain, ok := parseNumber(digits, r.language)
	if !ok {
		return "", 0, "", false
	}
	used = 1
	next := func() string {
		if r.at+used < len(r.tokens) {
			return fold(r.tokens[r.at+used].text)
		}
		return ""
	}
	for plain && len(next()) == 3 && isDigits(next()) && f < 1000 && f > 0 { // "14 000"
		g, _ := strconv.ParseFloat(next(), 64)
		f, digits = f*1000+g, digits+next()
		used++
	}
	if m := magnitudes[next()]; magnitude == 0 && m > 0 {
		magnitude = m
		used++
	}
	if magnitude > 0 {
		f, plain = f*magnitude, true
	}
	unit = r.unitOf(t, next())
	value = digits
	if plain {
		value = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if t.after == "%" || r.at+used-1 < len(r.tokens) && r.tokens[r.at+used-1].after == "%" {
		unit = "percent"
	}
	return value, used, unit, true
}

// unitOf returns the unit of a number, by the sign before it and the word behind it.
func (r *reader) unitOf(t token, next string) string {
	if t.before != "" {
		return "money"
	}
	for _, u := range units {
		for _, prefix := range u.prefixes {
			if strings.HasPrefix(next, prefix) {
				return u.name
			}
		}
	}
	return ""
}

var units = []struct {
	name     string
	prefixes []string
}{
	{"money", []string{"доллар", "долл", "евро", "руб", "фунт", "dollar", "euro", "rouble", "ruble", "pound"}},
	{"people", []string{"сотрудник", "работник", "человек", "офисн", "должност", "employee", "worker", "job", "corporate", "staff", "people"}},
}

var magnitudes = map[string]float64{
	"тыс": 1e3, "тысяч": 1e3, "тысячи": 1e3, "тысяча": 1e3, "thousand": 1e3, "k": 1e3,
	"млн": 1e6, "миллион": 1e6, "миллиона": 1e6, "миллионов": 1e6, "million": 1e6, "m": 1e6,
	"млрд": 1e9, "миллиард": 1e9, "миллиарда": 1e9, "миллиардов": 1e9, "billion": 1e9, "bn": 1e9, "b": 1e9,
	"трлн": 1e12, "триллион": 1e12, "триллиона": 1e12, "триллионов": 1e12, "trillion": 1e12,
}

// cutMagnitude cuts the magnitude that ends a number: "400m".
func cutMagnitude(s string) (digits string, magnitude float64) {
	i := len(s)
	for i > 0 && (s[i-1] < '0' || s[i-1] > '9') {
		i--
	}
	if m := magnitudes[s[i:]]; i > 0 && m > 0 {
		return s[:i], m
	}
	return s, 0
}

// cutOrdinal cuts the ending of an ordinal number: "13th", "13-го".
func cutOrdinal(s string) string {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	switch strings.TrimPrefix(s[i:], "-") {
	case "th", "st", "nd", "rd", "го", "й", "я", "е", "му", "м", "х":
		return s[:i]
	}
	return s
}

// parseNumber parses digits. plain is false for a version with points, which has no value.
func parseNumber(s, lang string) (f float64, plain, ok bool) {
	if s == "" || s[0] < '0' || s[0] > '9' || strings.Trim(s, "0123456789.,") != "" {
		return 0, false, false
	}
	if i := strings.LastIndexByte(s, ','); i >= 0 && lang == "en" && len(s)-i == 4 {
		s = strings.ReplaceAll(s, ",", "") // thousands
	}
	s = strings.ReplaceAll(s, ",", ".")
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !strings.Contains(s, "."), true
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// cutVersion cuts the version that ends a name: "gpt-4o", "m2", "cve-2021-44228".
func cutVersion(word string) (name, version string, ok bool) {
	i := strings.IndexAny(word, "0123456789")
	if i <= 0 || isCyrillic(word) {
		return "", "", false
	}
	name, version = strings.TrimRight(word[:i], "-."), word[i:]
	letters := strings.Trim(version, "0123456789.-")
	if name == "" || len(letters) > 1 || strings.ContainsAny(name, "-.") || word[i-1] != '-' && letters != "" {
		return "", "", false
	}
	return name, version, true
}

var roman = map[string]string{"II": "2", "III": "3", "IV": "4", "V": "5", "VI": "6", "VII": "7", "VIII": "8", "IX": "9", "XI": "11", "XII": "12"}

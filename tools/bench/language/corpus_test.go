// Package language measures language detection on real texts beside whatlanggo.
package language_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html"

	"feedmesh/classify/language"
	"feedmesh/tests/corpus"
)

// maxText is how many bytes of a text package language looks at.
const maxText = 1 << 10

// A labelled text has a known language.
type labelled struct {
	lang        string
	title, body string // either may be empty
	from        string // the file
}

// limits are the minimum shares of bodies and of titles detected correctly, for the supported languages.
var limits = struct {
	languages   []string
	body, title float64
	least, most int // texts that a share means something of; that are looked at
}{[]string{"en", "ru", "de", "fr", "es", "uk"}, 0.99, 0.97, 15, 2000}

// TestCorpus measures detection on real texts: by the text alone, with the language that the feed declares,
// with a wrong declaration, and with whatlanggo for comparison. The bars apply to the second. Texts without a
// result count as wrong.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("reads some 10,000 texts")
	}
	root := corpus.Folder(t)
	set := slices.Concat(feedTexts(t, root), otherTexts(t, root))
	for _, part := range []struct {
		name string
		text func(labelled) string
		bar  float64
	}{
		{"bodies", func(l labelled) string { return l.body }, limits.body},
		{"titles", func(l labelled) string { return l.title }, limits.title},
	} {
		texts := make(map[string][]labelled)
		for _, l := range set {
			if part.text(l) != "" {
				texts[l.lang] = append(texts[l.lang], l)
			}
		}
		t.Logf("%s: how many of how many; %% right and (%% wrong, the rest is unknown) alone, with the feed's word, with a lie, of those sure; whatlanggo", part.name)
		for _, lang := range slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
			return cmp.Or(len(texts[b])-len(texts[a]), cmp.Compare(a, b))
		}) {
			s := &score{}
			for i := 0; i < len(texts[lang]); i += len(texts[lang])/limits.most + 1 {
				s.count(t, texts[lang][i], part.text(texts[lang][i]))
			}
			t.Logf("%s %5d of %5d  %s  %s  %s  %s  %s", lang, s.all, len(texts[lang]), s.alone, s.withPrior, s.wrongPrior, s.sure, s.old)
			if slices.Contains(limits.languages, lang) && s.all >= limits.least && s.withPrior.share() < part.bar {
				t.Errorf("%s in %s: got %.4f right, want at least %.2f", part.name, lang, s.withPrior.share(), part.bar)
			}
		}
		for _, lang := range limits.languages {
			if len(texts[lang]) < limits.least {
				t.Errorf("%s in %s: too few to measure", part.name, lang)
			}
		}
	}
}

// A score counts the texts of a language that were detected correctly.
type score struct {
	all                                     int
	alone, withPrior, wrongPrior, sure, old tally
}

type tally struct{ all, right, wrong int }

func (t *tally) add(got, want string) {
	t.all++
	switch got {
	case want:
		t.right++
	case "":
	default:
		t.wrong++
	}
}

func (t tally) share() float64 { return float64(t.right) / float64(max(t.all, 1)) }

func (t tally) String() string {
	return fmt.Sprintf("%6.2f (%.2f)", 100*t.share(), 100*float64(t.wrong)/float64(max(t.all, 1)))
}

func (s *score) count(t *testing.T, l labelled, text string) {
	s.all++
	alone, sure := language.Detect(text, "")
	s.alone.add(alone, l.lang)
	if sure {
		s.sure.add(alone, l.lang)
	}
	withPrior, _ := language.Detect(text, l.lang)
	s.withPrior.add(withPrior, l.lang)
	if withPrior != l.lang {
		t.Logf("%s: got %q, want %s: %.60q", l.from, withPrior, l.lang, text)
	}
	lie := "en"
	if l.lang == lie {
		lie = "de"
	}
	wrongPrior, _ := language.Detect(text, lie)
	s.wrongPrior.add(wrongPrior, l.lang)
	s.old.add(whatlanggo.DetectLang(strings.ToValidUTF8(text[:min(len(text), maxText)], "")).Iso6391(), l.lang)
}

// signals are words that occur in almost every text of a language and in none of the other languages.
var signals = map[string][]string{
	"en": strings.Fields("the and of with this that from you are was have it"),
	"de": strings.Fields("und der das nicht ist mit ein für auf auch von sich"),
	"fr": strings.Fields("les des est dans pour une sur avec qui pas au ce"),
	"es": strings.Fields("los las del una por con para como más el su y"),
	"it": strings.Fields("che di il della sono gli nel anche è dei alla più"),
	"pt": strings.Fields("não uma os com em dos ao mais foi são da pela"),
	"nl": strings.Fields("het een van niet voor dat zijn met op ook naar bij"),
	"pl": strings.Fields("się nie jest że na do jak przez oraz który od z"),
	"cs": strings.Fields("že která jsou není jsem podle také při který nebo jako už"),
	"sv": strings.Fields("och att det är som på inte av till har jag från"),
	"no": strings.Fields("og ikke jeg det på til av er fra som også hvordan"),
	"tr": strings.Fields("ve bir bu için ile olarak daha çok olan gibi kadar değil"),
	"ca": strings.Fields("els amb una més aquest per al dels són seva també ha"),
	"ro": strings.Fields("și din care pentru este sunt mai nu fost cu după prin"),
	"af": strings.Fields("die het nie van en ʼn vir wat hulle is word om"),
	"ru": strings.Fields("и не что это как его для был на они или из"),
	"uk": strings.Fields("та що не у це як його для був від або із"),
	"bg": strings.Fields("на да се от за че са по със или това беше"),
	"el": strings.Fields("και το του να της με για που από στο είναι την"),
	"hi": strings.Fields("के में की है से को का और पर ने कि हैं"),
	"ur": strings.Fields("کے میں کی ہے سے کو کا اور پر نے کہ ہیں"),
	"fa": strings.Fields("و در به از که این را با است برای آن می"),
	"ar": strings.Fields("في من على أن إلى عن التي الذي هذا مع كان ما"),
	"he": strings.Fields("של את על לא הוא זה עם גם כי אל היא אני"),
}

// signalLanguages maps signal words to languages.
var signalLanguages = sync.OnceValue(func() map[string][]string {
	m := make(map[string][]string)
	for l, list := range signals {
		for _, w := range list {
			m[w] = append(m[w], l)
		}
	}
	return m
})

// letterSignals are letters that only one of two close languages uses.
var letterSignals = map[rune]string{'і': "uk", 'ї': "uk", 'є': "uk", 'ґ': "uk", 'ы': "ru", 'э': "ru", 'ё': "ru"}

// signalled returns the language with the most signal words and letters in a text, their number, and the
// number for the second language.
func signalled(text string) (lang string, first, second int) {
	counts := make(map[string]int)
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		for _, l := range signalLanguages()[w] {
			counts[l]++
		}
	}
	for _, r := range strings.ToLower(text) {
		if l := letterSignals[r]; l != "" {
			counts[l]++
		}
	}
	for _, l := range slices.Sorted(maps.Keys(counts)) {
		switch n := counts[l]; {
		case n > first:
			lang, first, second = l, n, first
		case n > second:
			second = n
		}
	}
	return lang, first, second
}

// feedTexts labels the entries of a feed if its declared language agrees with most of the signal words in all
// its text. A feed without a declaration needs 200 signal words, and ten times as many as for the second
// language. For Chinese, Japanese and Korean, which have no signal words, the script must agree. Entries are
// excluded as described at fits, and if they repeat.
func feedTexts(t *testing.T, root string) []labelled {
	var set []labelled
	seen := make(map[string]bool)
	fresh := func(s string) bool {
		if s == "" || seen[s] {
			return false
		}
		seen[s] = true
		return true
	}
	for _, file := range feedFiles(t, root) {
		f := parse(t, file)
		if f == nil {
			continue
		}
		var all strings.Builder
		for _, e := range f.Items {
			all.WriteString(e.Title + "\n" + plain(body(e)) + "\n")
		}
		declared := language.Normalize(f.Language)
		lang, first, second := signalled(all.String())
		if asian := eastern(all.String()); asian != "" {
			lang, first, second = asian, 1000, 0
		}
		if declared != "" && (declared != lang || first < 2*second) || declared == "" && (first < 200 || first < 10*second) {
			continue
		}
		for _, e := range f.Items {
			l := labelled{lang: lang, from: filepath.Base(file)}
			if s := plain(e.Title); fits(s, lang, 3, 12) && fresh(s) {
				l.title = s
			}
			if s := plain(body(e)); fits(s, lang, 12, 100) && fresh(s) {
				l.body = s
			}
			set = append(set, l)
		}
	}
	return set
}

// eastern returns the language determined by the script of most letters alone.
func eastern(s string) string {
	var letters, kana, han, hangul int
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.Is(unicode.Hangul, r):
			hangul++
		case !unicode.IsLetter(r):
			continue
		}
		letters++
	}
	switch {
	case 2*hangul > letters:
		return "ko"
	case 2*(kana+han) > letters && 10*kana > han:
		return "ja"
	case 2*han > letters:
		return "zh"
	}
	return ""
}

// fits reports whether a text is long enough to have a language, contains at least two words that are not
// names, is mostly in the language's script, and has no more signals of another language.
func fits(s, lang string, words, letters int) bool {
	n, other := 0, 0
	inLatin := latinWritten(lang)
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
			if unicode.Is(unicode.Latin, r) != inLatin {
				other++
			}
		}
	}
	if lang == "zh" || lang == "ja" || lang == "ko" {
		return n >= letters/4 && 2*other < n && eastern(s) == lang
	}
	if by, first, second := signalled(s); by != lang && first > 0 || first > 0 && first == second {
		return false
	}
	if inLatin {
		other *= 2 // names are in Latin letters everywhere, and other letters are rare in them
	}
	return smallWords(s) >= 2 && n >= letters && 2*other < n && len(strings.Fields(s)) >= words
}

// smallWords counts the words that begin with a lower-case letter or belong to a script without case. The
// others may be names.
func smallWords(s string) int {
	n := 0
	for _, w := range strings.Fields(s) {
		if r, _ := utf8.DecodeRuneInString(w); unicode.IsLetter(r) && !unicode.IsUpper(r) {
			n++
		}
	}
	return n
}

func latinWritten(lang string) bool {
	return !slices.Contains(strings.Fields("ru uk bg el hi ur fa ar he zh ja ko"), lang)
}

func body(e *gofeed.Item) string {
	if len(e.Content) > len(e.Description) {
		return e.Content
	}
	return e.Description
}

// plain returns the text of HTML without code.
func plain(s string) string {
	var b strings.Builder
	skip := 0
	z := html.NewTokenizer(strings.NewReader(html.UnescapeString(s)))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			if skip == 0 {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			b.WriteByte(' ')
			switch string(name) {
			case "script", "style", "pre", "code":
				if z.Token().Type == html.StartTagToken {
					skip++
				} else if skip > 0 {
					skip--
				}
			}
		}
	}
}

func parse(t *testing.T, file string) (f *gofeed.Feed) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for bytes.HasPrefix(b, []byte("\x1f\x8b")) {
		b = corpus.Gunzip(t, b)
	}
	defer func() {
		if recover() != nil {
			f = nil // gofeed panics on some documents
		}
	}()
	f, err = gofeed.NewParser().Parse(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	return f
}

func feedFiles(t *testing.T, root string) []string {
	var list []string
	for _, glob := range []string{"feeds/files/*/*", "feeds/encodings/*-base-utf8.xml"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(glob)))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, files...)
	}
	return list
}

// otherTexts are the texts with labels in the data.
func otherTexts(t *testing.T, root string) []labelled {
	type record struct {
		Title, Body, Lang string
		A, B              *struct{ Title, Body string }
	}
	var set []labelled
	seen := make(map[string]bool)
	for _, s := range []struct {
		file, lang string
		every      int // takes one of so many
	}{
		{"stories/uci-headlines.jsonl.gz", "en", 100},
		{"stories/basil.jsonl.gz", "en", 1},
		{"stories/ecb-plus.jsonl.gz", "en", 1},
		{"stories/news-pairs-ru-en.jsonl.gz", "", 1},
		{"categories/news-categories-ru-en.jsonl.gz", "", 1},
		{"categories/habr-ru-labelled.jsonl.gz", "ru", 1},
		{"categories/habr-ru-unlabelled.jsonl.gz", "ru", 1},
		{"categories/lobsters.jsonl.gz", "en", 20},
		{"categories/stackoverflow-titles.jsonl.gz", "en", 10},
	} {
		for i, r := range corpus.Lines[record](t, filepath.Join(root, filepath.FromSlash(s.file))) {
			if i%s.every != 0 {
				continue
			}
			lang := cmp.Or(s.lang, r.Lang)
			texts := []record{r}
			if r.A != nil && r.B != nil {
				texts = []record{{Title: r.A.Title, Body: r.A.Body}, {Title: r.B.Title, Body: r.B.Body}}
			}
			for _, r := range texts {
				l := labelled{lang: lang, from: filepath.Base(s.file)}
				if title := plain(r.Title); fits(title, lang, 3, 12) && !seen[title] {
					l.title, seen[title] = title, true
				}
				if body := plain(r.Body); fits(body, lang, 12, 100) {
					l.body = body
				}
				set = append(set, l)
			}
		}
	}
	return set
}

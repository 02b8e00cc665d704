package query

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStemOf_FormsShareStem(t *testing.T) {
	t.Parallel()
	for _, forms := range [][]string{
		{"run", "running", "runs"}, {"database", "Databases"}, {"Linus's", "Linus’s", "linus"},
		{"база", "базами", "БАЗЫ"}, {"Ёлка", "елки"},
		{"Haus", "Häuser", "Hauses"}, {"Buch", "Bücher"}, {"Datenbank", "Datenbanken"}, {"Straße", "Strasse", "Straßen"}, {"Zürich", "Zurich"},
		{"voiture", "voitures"}, {"développer", "développement"}, {"avion", "l'avion", "l’avions"}, {"café", "cafe", "cafés"},
		{"canción", "canciones", "cancion"}, {"coche", "coches"}, {"español", "espanol", "españoles"}, {"niño", "niños", "nino"},
	} {
		want := Words(forms[0])[0].Stem
		for _, form := range forms[1:] {
			if got := Stems(Words(form)); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: got stems %q, want those of %s, %q", form, got, forms[0], want)
			}
		}
	}
}

func TestStemOf_OtherWordsDiffer(t *testing.T) {
	t.Parallel()
	for a, b := range map[string]string{"server": "serve", "listen": "list", "c": "c++", "c#": "c", "docker": "dock", "open": "op"} {
		if x, y := Words(a)[0].Stem, Words(b)[0].Stem; x == y {
			t.Errorf("%s and %s have the stem %q both, want others", a, b, x)
		}
	}
}

func TestWords_SplitsTextsAndQueries(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct{ words, queryWords string }{
		"":                        {"", ""},
		"... — *":                 {"", ""},
		"To be, or not to be?":    {"to be or not to be", "to be or not to be"},
		"Node.js 22.1 vs. C++":    {"node.js 22.1 vs c++", "node.js 22.1 vs c++"},
		"数据库":                     {"数据 据库 库", "数据 据库"},
		"库":                       {"库", "库"},
		"数据库, 管理":                 {"数据 据库 库 管理 理", "数据 据库 管理"},
		"Go语言 rocks":              {"go 语言 言 rock", "go 语言 rock"},
		"日本語のニュース":                {"日本 本語 語の のニ ニュ ュー ース ス", "日本 本語 語の のニ ニュ ュー ース"},
		"한국어를 배우다":                {"한국 국어 어를 를 배우 우다 다", "한국 국어 어를 배우 우다"},
		"api를":                    {"api 를", "api 를"},
		"ภาษาไทย":                 {"ภา าษ ษา าไ ไท ทย ย", "ภา าษ ษา าไ ไท ทย"},
		"https://example.org/a-b": {"https example.org a b", "https example.org a b"},
		"plain\x00words\xff\xfe":  {"plain word", "plain word"},
	} {
		if got := strings.Join(Stems(Words(s)), " "); got != want.words {
			t.Errorf("%q: got words %q, want %q", s, got, want.words)
		}
		if got := strings.Join(Stems(QueryWords(s)), " "); got != want.queryWords {
			t.Errorf("%q: got query words %q, want %q", s, got, want.queryWords)
		}
	}
}

func TestQueryWords_PhraseDistancesEqualText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"東京都 tower", "tower 東京都", "库 go 语言", "选择 数据库, api를 x", "go语言rocks 性能 很好", "l'avion 数据库 l'avion"} {
		words, queryWords := Words(text), Text{Form: Phrase, Words: text}.QueryWords()
		if !standsAt(words, queryWords) {
			t.Errorf("%s: the text is %v, the phrase %v", text, words, queryWords)
		}
		if longer := Words("a " + text + "庁"); !hasPhrase(longer, queryWords) {
			t.Errorf("%s: got longer words %v, phrase %v", text, longer, queryWords)
		}
	}
	d := &Document{Title: "東京都庁 tower"}
	for words, want := range map[string]bool{"東京都庁 tower": true, "東京都 tower": false, "京都": true, "東京都": true, "都庁 tower": true} {
		if got := Matches(Text{Form: Phrase, Words: words}, d); got != want {
			t.Errorf("phrase %s: got %t, want %t", words, got, want)
		}
	}
	if !Matches(Text{Words: "東京都 tower"}, d) {
		t.Error("words outside a phrase contain a single last character")
	}
}

func TestWords_ByteRanges(t *testing.T) {
	t.Parallel()
	const s = "Vol de l'avion, 数据库 api를"
	var pos []int
	for i, w := range Words(s) {
		if i < 3 && !strings.EqualFold(s[w.Start:w.End], w.Text) {
			t.Errorf("word %q: got range %q", w.Text, s[w.Start:w.End])
		}
		pos = append(pos, w.Pos)
	}
	if want := []int{0, 1, 3, 4, 5, 6, 7, 8}; !slices.Equal(pos, want) {
		t.Errorf("got positions %v, want %v: articles count", pos, want)
	}
}

func TestMayHaveAccents_DetectsByLeadBytes(t *testing.T) {
	t.Parallel()
	for r := rune(1); r < 0x3000; r++ {
		if got, want := mayHaveAccents("x"+string(r)+"ы"), r >= 0xC0 && r < 0x280; got != want {
			t.Errorf("%q (%U): got %t, want %t", r, r, got, want)
		}
	}
}

func TestWords_CutsLongWordsBetweenCharacters(t *testing.T) {
	for _, s := range []string{"a", "é", "ж", "1", "漢\u0301\u0316", "한\u0301"} {
		long := strings.Repeat(s, 1000)
		if s[0] >= 0xE4 { // one character with many marks
			long = s[:3] + strings.Repeat(s[3:], 1000)
		}
		for _, w := range Words("x " + long + " y") {
			if len(w.Text) > MaxWord || !utf8.ValidString(w.Text) || !utf8.ValidString(w.Stem) || len(w.Stem) > 2*MaxWord {
				t.Errorf("%s: got a word of %d bytes with a stem of %d, want at most %d, in whole characters", s, len(w.Text), len(w.Stem), MaxWord)
			}
		}
		if got, want := Stems(QueryWords(long)), Stems(QueryWords("x "+long)); len(got) != 1 || got[0] != want[1] {
			t.Errorf("%s: got %.200q, want the stem of the word in a text, %.200q", s, got, want)
		}
	}
	if w := Words(strings.Repeat("a", 100)); w[0].End != 100 {
		t.Errorf("got a word that ends at %d, want the whole word highlighted", w[0].End)
	}
}

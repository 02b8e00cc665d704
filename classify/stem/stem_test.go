package stem

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

func TestWords_Positions(t *testing.T) {
	for _, test := range []struct {
		text, lang string
		want       []Word
	}{
		{"The state of the databases", "en", []Word{{"state", 1}, {"databas", 4}}},
		{"и базы данных: ещё о них", "ru", []Word{{"баз", 1}, {"дан", 2}}},
		{"L'état de l'art", "fr", []Word{{"état", 1}, {"art", 4}}},
		{"東京タワー", "ja", []Word{{"東京", 0}, {"京タ", 1}, {"タワ", 2}, {"ワー", 3}}},
		{"see https://example.com/the/page for more", "en", []Word{{"see", 0}, {"more", 2}}},
		{" -- ", "en", nil},
	} {
		if got := Words(test.text, test.lang); !slices.Equal(got, test.want) {
			t.Errorf("Words(%q, %q) = %v, want %v", test.text, test.lang, got, test.want)
		}
	}
}

func TestWords_NamesStayUnchanged(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"C, C++, C# and F#", []string{"c", "c++", "c#", "f#"}},
		{"C++17 versus g++", []string{"c++", "17", "versus", "g++"}},
		{"R, Go and 5G", []string{"r", "go", "5g"}},
		{".NET and ASP.NET, but.NET", []string{".net", "asp.net", "net"}},
		{"Node.js, k8s and IPv6.", []string{"node.js", "k8s", "ipv6"}},
		{"ISO-8859-1 or UTF-8, x86-64", []string{"iso-8859-1", "utf-8", "x86-64"}},
		{"версия-1.2", []string{"версия-1.2"}},
		{"a well-known issue #5", []string{"well", "known", "issu", "5"}},
		{"1.26 or 1,000 in 2020-21", []string{"1.26", "1,000", "2020", "21"}},
		{"The end.The next", []string{"end", "next"}},
		{"camelCase and PostgreSQL", []string{"camelcas", "postgresql"}},
		{"TCP/IP, max_connections", []string{"tcp", "ip", "max", "connect"}},
		{"O'Reilly's", []string{"o'reilly"}},
		{"a+b, a + b", []string{"b", "b"}},
	} {
		if got := Stems(test.text, "en"); !slices.Equal(got, test.want) {
			t.Errorf("List(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestWords_FoldsSpellings(t *testing.T) {
	for _, test := range []struct{ text, like string }{
		{"ещё ёлка", "еще елка"},
		{"е\u0308лка", "елка"},
		{"за\u0301мок", "замок"},
		{"и\u0306од", "йод"},
		{"Unter\u00ADneh\u200Bmen", "unternehmen"},
		{"cafe\u0301", "café"},
		{"Don’t panic", "don't panic"},
		{"\uFEFFdatabase\u200E", "database"},
		{"ＡＰＩ ２", "api 2"},
		{"ISO\u20118859\u20111", "iso-8859-1"},
		{"İstanbul", "istanbul"},
		{"ΟΔΟΣ", "οδος"},
	} {
		got, want := Stems(test.text, ""), Stems(test.like, "")
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("List(%q) = %q, want %q as of %q", test.text, got, want, test.like)
		}
	}
}

func TestWords_SkipsAddresses(t *testing.T) {
	for text, want := range map[string][]string{
		"see https://example.com/a?b=c#d, then":        {"see"},
		"(http://user@host.example:80/x) ok":           {"ok"},
		"www.example.com/x ok":                         {"ok"},
		"write to jane.doe+x@mail.example.com today":   {"write", "today"},
		"mailto:jane@example.com ok":                   {"ok"},
		"смhttps":                                      {"смhttps"},
		"前https://example.com/x後の話":                    {"前", "後の", "の話"},
		"example.com is a name, @jane and a@b are not": {"example.com", "name", "jane", "b"},
		"std::vector, a://b":                           {"std", "vector"},
	} {
		if got := Stems(text, "en"); !slices.Equal(got, want) {
			t.Errorf("List(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTokens_Addresses(t *testing.T) {
	var got []string
	for t := range tokens("see https://example.com/a?b=c#d, www.example.org/x or jane@mail.example.com; not example.net", nil) {
		if t.kind == addressed {
			got = append(got, t.text)
		}
	}
	if want := []string{"https://example.com/a?b=c#d,", "www.example.org/x", "jane@mail.example.com"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWords_PairsInScriptsWithoutSpaces(t *testing.T) {
	for text, want := range map[string][]string{
		"数据库2024版": {"数据", "据库", "2024", "版"},
		"한국어 단어":   {"한국", "국어", "단어"},
		"ภาษาไทย":  {"ภา", "าษ", "ษา", "าไ", "ไท", "ทย"},
		"C言語":      {"c", "言語"},
		"が":        {"が"},
		"か\u3099":  {"が"},
		"東、京":      {"東", "京"},
	} {
		if got := Stems(text, ""); !slices.Equal(got, want) {
			t.Errorf("List(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestOf_ReturnsStem(t *testing.T) {
	for _, test := range []struct{ word, lang, want string }{
		{"databases", "en", "databas"},
		{"vulnerabilities", "", "vulner"},
		{"базами", "ru", "баз"},
		{"базами", "en", "баз"},
		{"servers", "ru", "server"},
		{"serveurs", "fr", "serveur"},
		{"servidores", "es", "servidor"},
		{"häuser", "de", "haus"},
		{"servrarna", "sv", "servr"},
		{"nyheter", "no", "nyhet"},
		{"szerverek", "hu", "szerver"},
		{"computadores", "pt", "comput"},
		{"häuser", "xx", "häuser"},
		{"c++", "en", "c++"},
		{"node.js", "en", "node.js"},
		{"don't", "en", "don't"},
		{"torvalds's", "en", "torvald"},
		{"東", "ja", "東"},
		{"οδος", "el", "οδος"},
		{"", "en", ""},
	} {
		for range 2 { // found, then remembered
			if got := Of(test.word, test.lang); got != test.want {
				t.Errorf("Of(%q, %q) = %q, want %q", test.word, test.lang, got, test.want)
			}
		}
	}
}

func TestOf_FormsShareStem(t *testing.T) {
	for lang, pairs := range map[string][]string{
		"en": {"scheduler schedulers", "running runs"},
		"ru": {"сервера серверами", "уязвимость уязвимости"},
		"de": {"server servern", "häuser hauses", "sprache sprachen"},
		"fr": {"serveur serveurs", "nouvelle nouvelles"},
		"es": {"servidor servidores", "nueva nuevas"},
		"it": {"notizia notizie"},
		"pt": {"notícia notícias"},
		"nl": {"server servers", "taal talen"},
		"sv": {"server servern"},
		"no": {"bøkene bøkenes"},
		"da": {"server serverne"},
		"fi": {"talossa talojen"},
		"hu": {"szerver szerverek"},
		"ro": {"limba limbii"},
		"tr": {"haber haberler"},
	} {
		for _, pair := range pairs {
			a, b, _ := strings.Cut(pair, " ")
			if Of(a, lang) != Of(b, lang) {
				t.Errorf("in %s: got %q for %q, %q for %q, want the same", lang, Of(a, lang), a, Of(b, lang), b)
			}
		}
	}
}

func TestWords_SkipsStopWords(t *testing.T) {
	for _, lang := range append(Languages(), "en", "ru") {
		if len(StopWords(lang)) < 40 {
			t.Errorf("%s: got %d stop words", lang, len(StopWords(lang)))
		}
		for w := range StopWords(lang) {
			if got := Words("xyzzy "+w+" xyzzy", lang); len(got) != 2 || got[1].Pos != 2 {
				t.Errorf("%s: got %v around %q, want two words with a word between", lang, got, w)
			}
		}
	}
	for _, name := range []string{"c", "r", "go", "it"} {
		if StopWords("en")[name] != (name == "it") {
			t.Errorf("%q is a name, or not", name)
		}
	}
}

// A cache has fewer slots than a process meets words.
func TestCache_EvictedStemIsComputedAgain(t *testing.T) {
	var c cache
	found := make(map[string]int)
	find := func(word string) string {
		found[word]++
		return word + "!"
	}
	for range 2 {
		for i := range 2 * cacheSlots {
			if word := strconv.Itoa(i); c.get(word, find) != word+"!" {
				t.Fatalf("%q: got the stem of another word", word)
			}
		}
	}
	for range 3 {
		c.get("last", find)
	}
	if found["last"] != 1 {
		t.Errorf("a word after %d others was looked for %d times, want once: then it is remembered", 2*cacheSlots, found["last"])
	}
	if len(c.slots) != cacheSlots {
		t.Errorf("got %d words remembered, want at most %d", len(c.slots), cacheSlots)
	}
}

func TestWords_ConcurrentUse(t *testing.T) {
	const text = "The databases of the schedulers and the Серверы баз данных were running"
	want := Words(text, "en")
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for i := range 500 {
				Of("word"+strings.Repeat("s", i%50), "en")
				if got := Words(text, "en"); !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	done.Wait()
}

func FuzzWords(f *testing.F) {
	f.Add("C++ don't Ёж 東京 e\u0301 \u00AD x\u00AD \xff#+. https://a.b/ä a@b.c .NET l'État ＡＰＩ が", "fr")
	f.Add("ISO-8859-1,000 İ ϔ ŉ ﬁ ǆ ᾳ", "tr")
	for _, lang := range Languages() {
		f.Add("Ğünlärning İßt døs été hogy în sjøen 1.2-3 ok", lang)
	}
	f.Fuzz(func(t *testing.T, s, lang string) {
		last, count := -1, CountWords(s, lang)
		for _, w := range Words(s, lang) {
			if w.Stem == "" || w.Pos <= last || w.Pos >= count {
				t.Fatalf("got %+v after %d of %d in %q", w, last, count, s)
			}
			if utf8.ValidString(s) && !utf8.ValidString(w.Stem) {
				t.Fatalf("got %q of %q", w.Stem, s)
			}
			last = w.Pos
		}
	})
}

func BenchmarkWords(b *testing.B) {
	for lang, s := range map[string]string{
		"en": "The new version of the container orchestrator closes a vulnerability and speeds up the scheduler for large clusters. ",
		"ru": "Новая версия оркестратора закрывает уязвимость и ускоряет планировщик для больших кластеров. ",
		"de": "Die neue Version des Orchestrators schließt eine Lücke und beschleunigt die Planung für große Verbünde. ",
		"zh": "新版本的容器编排器修复了一个漏洞，并加快了大型集群的调度速度。",
	} {
		s = strings.Repeat(s, 3000/len(s)+1)[:3000]
		b.Run(lang, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Words(s, lang)
			}
		})
	}
}

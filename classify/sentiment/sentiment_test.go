package sentiment

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScore_Sentences(t *testing.T) {
	for _, test := range []struct {
		language, text string
		least, most    float64
	}{
		{"en", "This is a wonderful release, we love it.", 0.6, 1},
		{"en", "The worst ever update: everything is broken and support is useless.", -1, -0.6},
		{"en", "The update is good.", 0.15, 0.5},
		{"en", "The update is not good.", -0.4, -0.1},
		{"en", "The update isn't good.", -0.4, -0.1},
		{"en", "Not bad at all.", 0.1, 0.5},
		{"en", "It doesn't crash any more, without errors.", 0.1, 0.6},
		{"en", "A crash, a bug and an outage.", -0.8, -0.3},
		{"en", "PostgreSQL 17 has a killer feature", 0.4, 1},
		{"en", "How the garbage collector of Go kills dead code", -0.6, 0.1},
		{"en", "Kubernetes 1.32 released", 0, 0},
		{"en", "Reading files in Python 3.12", 0, 0},
		{"en", "Bug fixes and improvements", 0.2, 0.8},
		{"en", "AWS outage takes down half of the internet", -0.5, -0.1},
		{"en", "Ransomware attack: data of millions stolen", -0.8, -0.2},
		{"en", "Not only fast, but also reliable", 0.2, 0.8},
		{"en", "We’re not happy with it.", -0.7, -0.2},
		{"ru", "Отличная новость: релиз получился прекрасным.", 0.5, 1},
		{"ru", "Ужасное обновление, всё сломалось, поддержка бесполезна.", -1, -0.6},
		{"ru", "Обновление неплохое", -0.1, 0.5},
		{"ru", "Вышло не плохо.", 0.1, 0.5},
		{"ru", "Это не лучшее решение.", -0.6, -0.1},
		{"ru", "Всё работает без сбоев.", 0.1, 0.6},
		{"ru", "Ещё одна уязвимость и утечка данных", -0.7, -0.2},
		{"ru", "Сборка мусора в Go", 0, 0},
		{"ru", "Вышел PostgreSQL 17", 0, 0},
		{"ru", "Сервис не работает уже час", -0.5, -0.1},
		{"", "good", 0, 0},
		{"de", "Das ist good", 0, 0},
		{"en", "", 0, 0},
		{"en", "\xff\xfe good \xff", 0.1, 0.5},
	} {
		if got := Score(test.text, test.language); got < test.least || got > test.most {
			t.Errorf("Score(%q, %q) = %v, want %v to %v", test.text, test.language, got, test.least, test.most)
		}
	}
}

func TestScore_ComparesTexts(t *testing.T) {
	for _, test := range []struct{ language, better, worse string }{
		{"en", "very good", "good"},
		{"en", "good", "slightly good"},
		{"en", "bad", "very bad"},
		{"en", "It is ugly, but it is fast.", "It is fast, but it is ugly."},
		{"en", "However, it is good.", "However, it is bad."},
		{"en", "It works great", "It works"},
		{"en", "It works", "It fails"},
		{"ru", "очень хорошая статья", "хорошая статья"},
		{"ru", "плохо", "очень плохо"},
		{"ru", "Дорого, но надёжно", "Надёжно, но дорого"},
		{"ru", "Не очень плохо", "Очень плохо"},
	} {
		if better, worse := Score(test.better, test.language), Score(test.worse, test.language); better <= worse {
			t.Errorf("%q: got %v, %q: got %v; want the first above the second", test.better, better, test.worse, worse)
		}
	}
}

func TestParse_ShippedLexicons(t *testing.T) {
	for language := range lexicons {
		l := lexiconOf(language)
		if len(l.stems) < 500 || len(l.phrases) < 20 {
			t.Errorf("%s: got %d stems and phrases with %d beginnings, want some hundred", language, len(l.stems), len(l.phrases))
		}
		for _, list := range l.phrases {
			for _, p := range list {
				text := strings.Join(p.words, " ")
				for words := range l.sentences(text) {
					if !p.begins(words) {
						t.Errorf("%s: the phrase %q is never found", language, text)
					}
				}
			}
		}
	}
}

func TestParse_ReportsProblems(t *testing.T) {
	_, err := parse("# x\n4: good\ngood\n1: \"\" a\n", "en")
	want := "2: want a weight from -3 to 3 and a colon\n3: want a weight from -3 to 3 and a colon\n4: a phrase has no words"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func FuzzScore(f *testing.F) {
	f.Add("Not only bad, but very good!", "en")
	f.Add("но но не очень", "ru")
	f.Fuzz(func(t *testing.T, text, language string) {
		got := Score(text, language)
		if !(got >= -1 && got <= 1) {
			t.Errorf("Score(%q, %q) = %v", text, language, got)
		}
		if repeated := Score(text, language); repeated != got {
			t.Errorf("got %v, then %v", got, repeated)
		}
	})
}

func BenchmarkScore(b *testing.B) {
	for language, sentence := range map[string]string{
		"en": "The new scheduler of the kernel is much faster, but some users complain of crashes on old hardware. ",
		"ru": "Новый планировщик ядра намного быстрее, но часть пользователей жалуется на сбои старого железа. ",
	} {
		text := strings.Repeat(sentence, 30)[:2048]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		b.Run(language, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Score(text, language)
			}
		})
	}
}

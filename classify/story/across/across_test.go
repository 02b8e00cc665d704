package across

import (
	"slices"
	"strings"
	"testing"
)

func TestCompare_SameHappening(t *testing.T) {
	for _, c := range []struct {
		ru, en string
		same   bool
	}{
		{"Вышел PostgreSQL 18 с асинхронным вводом-выводом", "PostgreSQL 18 released with asynchronous I/O", true},
		{"Вышел PostgreSQL 18", "PostgreSQL 17 released", false},                                        // another version
		{"Google купит Wiz за 32 млрд долларов", "Google to buy Wiz for $32 billion", true},             // amounts are alike
		{"Google купит Wiz за 32 млрд долларов", "Google to buy Wiz for $23 billion", false},            // another amount
		{"Ларри Эллисон покинул пост гендиректора Oracle", "Oracle CEO Larry Ellison steps down", true}, // names by sound
		{"Oracle завершила покупку Cerner", "Oracle to buy Cerner for $28 billion", false},              // another stage
		{"Oracle представила новый сервер", "Mozilla launches VPN", false},                              // nothing alike
		{"Суд оштрафовал компанию за утечку данных", "Court fines company over data leak", false},       // no name
		{"CVE-2024-3094: бэкдор в xz-utils", "Backdoor in xz-utils (CVE-2024-3094)", true},              // identifiers
		{"CVE-2024-3094: бэкдор в xz-utils", "Backdoor in xz-utils (CVE-2023-3094)", false},             //
		{"Вышла GTA VI для PlayStation", "GTA V for PlayStation released", false},                       // Roman numerals are versions
		{"", "", false},
	} {
		a, b := Read(c.ru, "ru"), Read(c.en, "en")
		if m := Compare(a, b); m.Same != c.same {
			t.Errorf("%s | %s: got %v, odds %.2f, shared %q; want %v", c.ru, c.en, m.Same, m.Odds, m.Shared, c.same)
		}
		if there, back := Compare(a, b).Same, Compare(b, a).Same; there != back {
			t.Errorf("%s | %s: got %v, and %v the other way round", c.ru, c.en, there, back)
		}
	}
}

// Two texts that link to the same page need less in common, but a name, and no conflict.
func TestCompareLinked_NeedsLess(t *testing.T) {
	for _, c := range []struct {
		ru, en       string
		same, linked bool
	}{
		{"Дыра в OpenSSH угрожает миллионам серверов", "OpenSSH regression lets attackers in", false, true},
		{"Дыра угрожает миллионам серверов", "Regression lets attackers in", false, false},
		{"Вышел PostgreSQL 18", "PostgreSQL 17 released", false, false},
	} {
		a, b := Read(c.ru, "ru"), Read(c.en, "en")
		if m := Compare(a, b); m.Same != c.same {
			t.Errorf("%s | %s: got %v, odds %.2f; want %v", c.ru, c.en, m.Same, m.Odds, c.same)
		}
		if m := CompareLinked(a, b); m.Same != c.linked {
			t.Errorf("%s | %s, linked: got %v, odds %.2f; want %v", c.ru, c.en, m.Same, m.Odds, c.linked)
		}
	}
}

func TestRead_Numbers(t *testing.T) {
	for _, c := range []struct{ title, lang, want string }{
		{"68,7 млрд долларов", "ru", "68700000000"},
		{"$68.7 billion", "en", "68700000000"},
		{"14 000 должностей", "ru", "14000"},
		{"18,000 jobs", "en", "18000"},
		{"$400M", "en", "400000000"},
		{"процессоры 13-го поколения", "ru", "13"},
		{"Log4j 2.17.0", "en", "2.17.0"},
	} {
		if got := Read(c.title, c.lang); !slices.Contains(strings.Fields(got.String()), c.want) {
			t.Errorf("%s: got %s, want %s", c.title, got, c.want)
		}
	}
}

func TestSoundOf_IsAlikeInBothAlphabets(t *testing.T) {
	for _, c := range [][2]string{{"торвальдс", "torvalds"}, {"цукерберг", "zuckerberg"}, {"аэрофлот", "aeroflot"}, {"фейсбук", "facebook"}, {"гелсингер", "gelsinger"}, {"микрософт", "microsoft"}} {
		if a, b := soundOf(c[0]), soundOf(c[1]); a != b || a == "" {
			t.Errorf("%s and %s: got %q and %q", c[0], c[1], a, b)
		}
	}
	if got := soundOf("или"); got != "" {
		t.Errorf("got %q for a short word, want no key", got)
	}
}

func TestSearchWords_FindTheOtherLanguage(t *testing.T) {
	for _, c := range []struct {
		title, lang string
		want        []string
	}{
		{"Павла Дурова задержали в Париже", "ru", []string{"durov", "arrest"}},
		{"Telegram founder Pavel Durov arrested in France", "en", []string{"telegram", "дуров", "арест"}},
		{"Вышел PostgreSQL 18", "ru", []string{"postgresql", "18", "released"}},
		{"Глава Oracle Ларри Эллисон ушёл", "ru", []string{"oracle", "ellison"}},
	} {
		got := Read(c.title, c.lang).SearchWords()
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: got %q, want %q among them", c.title, got, w)
			}
		}
		if len(got) > maxSearchWords {
			t.Errorf("%s: got %d words", c.title, len(got))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Вышел PostgreSQL 18: 68,7 млрд $14 000 13-го GPT-4o %", "ru")
	f.Add("«--- ''' VI 1,2,3 CVE-2021-", "en")
	f.Fuzz(func(t *testing.T, title, lang string) {
		a := Read(title, lang)
		Compare(a, Read(title, "en"))
		a.SearchWords()
	})
}

func BenchmarkCompare(b *testing.B) {
	x, y := Read("Microsoft покупает Activision Blizzard за 68,7 млрд долларов", "ru"), Read("Microsoft to acquire Activision Blizzard for $68.7 billion", "en")
	for b.Loop() {
		Compare(x, y)
	}
}

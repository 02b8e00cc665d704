package language

import (
	"strings"
	"testing"
)

func TestDetect_Languages(t *testing.T) {
	for _, test := range []struct{ text, prior, want string }{
		{"How we moved our database to the new servers without downtime", "", "en"},
		{"Как мы перенесли базу данных на новые серверы", "", "ru"},
		{"Kubernetes и Docker: что нового в Spring Boot", "en", "ru"},
		{"Обзор Visual Studio Code", "", "ru"},
		{"How to say привет in Russian", "", "en"},
		{"Як ми перенесли базу даних на нові сервери", "ru", "uk"},
		{"Обзор новостей недели", "de", "ru"},
		{"Как преместихме базата данни на новите сървъри", "", "bg"},
		{"Як мы перанеслі базу даных на новыя серверы", "", "be"},
		{"Како смо преместили базу података на нове сервере", "", "sr"},
		{"Wie wir die Datenbank auf neue Server umgezogen haben, und was nicht ging", "", "de"},
		{"Comment nous avons déplacé la base de données vers les nouveaux serveurs", "", "fr"},
		{"Cómo movimos la base de datos a los nuevos servidores sin parar", "", "es"},
		{"Come abbiamo spostato il database sui nuovi server", "", "it"},
		{"Como movemos o banco de dados para os novos servidores sem uma parada", "", "pt"},
		{"Jak przenieśliśmy bazę danych na nowe serwery", "", "pl"},
		{"Hoe we de database naar nieuwe servers verhuisden", "", "nl"},
		{"Jak jsme přesunuli databázi na nové servery", "", "cs"},
		{"Hur vi flyttade databasen till de nya servrarna", "", "sv"},
		{"Veritabanını yeni sunuculara nasıl taşıdık", "", "tr"},
		{"Hogyan költöztettük az adatbázist az új szerverekre", "", "hu"},
		{"Kako smo premjestili bazu podataka na nove poslužitelje", "", "hr"},
		{"Kako smo premestili bazu podataka na nove servere", "sr", "sr"},
		{"データベースを新しいサーバーに移行した方法", "", "ja"},
		{"我们如何将数据库迁移到新服务器", "", "zh"},
		{"東京証券取引所", "ja", "ja"},
		{"데이터베이스를 새 서버로 옮긴 방법", "", "ko"},
		{"كيف نقلنا قاعدة البيانات إلى الخوادم الجديدة", "", "ar"},
		{"چگونه پایگاه داده را به سرورهای جدید منتقل کردیم", "", "fa"},
		{"איך העברנו את מסד הנתונים לשרתים חדשים", "", "he"},
		{"Πώς μεταφέραμε τη βάση δεδομένων", "", "el"},
		{"हमने डेटाबेस को नए सर्वर पर कैसे स्थानांतरित किया", "", "hi"},
		{"เราย้ายฐานข้อมูลไปยังเซิร์ฟเวอร์ใหม่ได้อย่างไร", "", "th"},
		{"როგორ გადავიტანეთ მონაცემთა ბაზა", "", "ka"},
		{"LE GOUVERNEMENT VEUT CHANGER LA LOI SUR LES DONNÉES", "", "fr"},
		{"L'Ã©tÃ© dernier, Ã la campagne, il a Ã©crit un livre", "", "fr"},
	} {
		if got, _ := Detect(test.text, test.prior); got != test.want {
			t.Errorf("Detect(%q, %q) = %q, want %q", test.text, test.prior, got, test.want)
		}
	}
}

func TestDetect_UnknownText(t *testing.T) {
	for _, text := range []string{
		"", " ", "v1.2.3", "12345 67", "🎉🎉🎉", "C++", "https://example.com/the/way/we/were",
		"xkcdq wrtzp dsfkjh skdjfh", "<div class=\"x\">", "someFunction(otherValue, theThing)", "\xff\xfe",
	} {
		for _, prior := range []string{"", "en", "nonsense"} {
			if got, sure := Detect(text, prior); got != "" || sure {
				t.Errorf("Detect(%q, %q) = %q, %v, want nothing", text, prior, got, sure)
			}
		}
	}
}

func TestDetect_PriorDecidesCloseLanguages(t *testing.T) {
	for _, test := range []struct{ text, prior, want string }{
		{"Vi flytter databasen til nye servere", "da", "da"},
		{"Vi flytter databasen til nye servere", "nb-NO", "no"},
	} {
		if got, _ := Detect(test.text, test.prior); got != test.want {
			t.Errorf("Detect(%q, %q) = %q, want %q", test.text, test.prior, got, test.want)
		}
	}
}

func TestDetect_ShortTitles(t *testing.T) {
	for _, test := range []struct{ text, prior, want string }{
		{"Tags", "", "en"},
		{"Lava Layers", "", "en"},
		{"Цитата #17375", "", "ru"},
		{"Цитата #17375", "uk", "uk"}, // as likely in both
		{"FOSDEM 2017", "", ""},
		{"USB-C", "de", "de"},
	} {
		if got, sure := Detect(test.text, test.prior); got != test.want || sure {
			t.Errorf("Detect(%q, %q) = %q, %v, want %q, not sure", test.text, test.prior, got, sure, test.want)
		}
	}
}

func TestMajority(t *testing.T) {
	german, english := "Wir haben die Datenbank auf neue Server umgezogen", "We moved our database to the new servers without downtime"
	for _, test := range []struct {
		texts []string
		want  string
	}{
		{nil, ""},
		{[]string{"Tags", "Lava Layers"}, ""}, // not sure
		{[]string{german, "Tags"}, "de"},
		{[]string{german, english}, ""},
		{[]string{german, english, german}, "de"},
	} {
		if got := Majority(test.texts); got != test.want {
			t.Errorf("Majority(%q) = %q, want %q", test.texts, got, test.want)
		}
	}
}

func TestFixMojibake_RepairsText(t *testing.T) {
	for damaged, want := range map[string]string{
		"Ã©tÃ© Ã la mer":       "été à la mer",
		"leÂ guide":            "le guide",
		"GrÃ¶ÃŸe, HÃ¤user":     "Größe, Häuser",
		"AMANHÃ SERÁ DE MANHÃ": "AMANHÃ SERÁ DE MANHÃ",
		"Âge, Ãgua":            "Âge, Ãgua",
		"plain":                "plain",
	} {
		if got := fixMojibake(damaged); got != want {
			t.Errorf("mended(%q) = %q, want %q", damaged, got, want)
		}
	}
}

// A name has no language; only the feed's declaration remains.
func TestDetect_PriorWithoutEvidence(t *testing.T) {
	for _, test := range []struct{ text, prior, want string }{
		{"Frama-C", "", ""},
		{"Frama-C", "fr-FR", "fr"},
		{"Ok!", "ru-RU", "ru"},
		{"Kubernetes 1.30", "de", "de"},
	} {
		if got, sure := Detect(test.text, test.prior); got != test.want || sure {
			t.Errorf("Detect(%q, %q) = %q, %v, want %q, not sure", test.text, test.prior, got, sure, test.want)
		}
	}
}

func TestDetect_WrongPriorDoesNotOverrideText(t *testing.T) {
	const text = "The quick brown fox jumps over the lazy dog, and then it goes home to sleep for the rest of the day."
	for _, lie := range []string{"", "de", "nl", "ru", "zh", "rss.channel.language"} {
		if got, sure := Detect(text, lie); got != "en" || !sure {
			t.Errorf("with %q declared: got %q, %v, want en for sure", lie, got, sure)
		}
	}
}

func TestDetect_ReadsBeginning(t *testing.T) {
	s := strings.Repeat("Это начало по-русски, а ", 200) + strings.Repeat("the rest is English and long ", 1000)
	if got, _ := Detect(s, ""); got != "ru" {
		t.Errorf("got %q, want ru", got)
	}
}

func TestNormalize(t *testing.T) {
	for tag, want := range map[string]string{
		"en-US": "en", "en_GB": "en", "RU": "ru", " pt-br ": "pt", "zh-Hant-TW": "zh", "eng": "en", "rus": "ru",
		"iw": "he", "nb-NO": "no", "nn": "no", "no": "no", "sh": "sr",
		"": "", "und": "", "russian": "", "x-klingon": "", "<script>": "", "en-us, de": "", "rss_2.0.channel.language": "",
	} {
		if got := Normalize(tag); got != want {
			t.Errorf("Normal(%q) = %q, want %q", tag, got, want)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("How we moved our database", "en-US")
	f.Add("Ã©Ã ÂÂ  é\xff\u0301 СССР ok", "uk")
	f.Add("東京タワー2024 데이터 ที่", "ja")
	f.Fuzz(func(t *testing.T, text, prior string) {
		got, sure := Detect(text, prior)
		if got != "" && len(got) != 2 || sure && got == "" {
			t.Fatalf("got %q, sure %v, for %q", got, sure, text)
		}
		if repeated, _ := Detect(text, prior); repeated != got {
			t.Fatalf("got %q, then %q", got, repeated)
		}
	})
}

// TestCost_RightDecodingIsLeast: the bytes of a text cost least in the encoding that they were written in.
func TestCost_RightDecodingIsLeast(t *testing.T) {
	for right, wrong := range map[string][]string{
		"съешь же ещё этих мягких французских булок": {"ñúåøü æå åù¸ ýòèõ ìÿãêèõ ôðàíöóçñêèõ áóëîê", "ρϊεψό ζε ευΈ ύςθυ μ�γκθυ τπΰνφσηρκθυ ασλξκ"},
		"Größe und Übermut":           {"Gr��e und �bermut", "GrцЯe und Ьbermut"},
		"zażółć gęślą jaźń":           {"za¿ó³æ gêœl¹ jaŸñ", "zaæóùę gęśl± jaĽń"},
		"η νέα έκδοση της βάσης":      {"з нЭб Эклпуз фзт вЬузт", "ç íÝá Ýêäïóç ôçò âÜóçò"},
		"הגרסה החדשה של מסד":          {"дврсд дзгщд щм осг", "äâøñä äçãùä ùì îñã"},
		"baştan yazdıklarını ilk şu":  {"baþtan yazdýklarýný ilk þu", "baştan yazdęklarünü ilk ţu"},
		"a fejlesztők erős tűzfalat":  {"a fejlesztõk erõs tûzfalat"},
		"l’été « à Noël » commence …": {"l\u0092été « à Noël » commence \u0085", "lТйtй « а Noлl » commence Е"},
	} {
		for _, w := range wrong {
			if a, b := Cost(right, ""), Cost(w, ""); a >= b {
				t.Errorf("%q costs %.1f, but %q costs %.1f", right, a, w, b)
			}
		}
	}
	if a, b := Cost("dobar dan", "hr"), Cost("dobar dan", ""); a >= b {
		t.Errorf("the declared language does not lower the cost %.1f to %.1f", b, a)
	}
}

package classify

import (
	"strings"
	"testing"
)

func TestLanguage(t *testing.T) {
	for _, test := range []struct{ text, hint, want string }{
		{"How we moved our database to the new servers without downtime", "", "en"},
		{"Show HN: Kubernetes operator", "en-US", "en"},
		{"Show HN: Kubernetes operator", "", ""},
		{"Как мы перенесли базу данных на новые серверы", "", "ru"},
		{"Kubernetes и Docker: что нового в Spring Boot", "en", "ru"},
		{"Як ми перенесли базу даних на нові сервери", "ru", "uk"},
		{"Обзор новостей недели", "uk", "uk"},
		{"Обзор новостей недели", "de", "ru"},
		{"Wie wir die Datenbank auf neue Server umgezogen haben, und was nicht ging", "", "de"},
		{"Comment nous avons déplacé la base de données vers les nouveaux serveurs", "", "fr"},
		{"Cómo movimos la base de datos a los nuevos servidores sin parar", "", "es"},
		{"Come abbiamo spostato il database sui nuovi server, con gli errori che non ci aspettavamo della rete", "", "it"},
		{"Como movemos o banco de dados para os novos servidores sem uma parada", "", "pt"},
		{"Jak przenieśliśmy bazę danych na nowe serwery i co się nie udało", "", "pl"},
		{"Hoe we de database naar nieuwe servers verhuisden, en wat er niet goed ging", "", "nl"},
		{"データベースを新しいサーバーに移行した方法", "", "ja"},
		{"我们如何将数据库迁移到新服务器", "", "zh"},
		{"데이터베이스를 새 서버로 옮긴 방법", "", "ko"},
		{"كيف نقلنا قاعدة البيانات إلى الخوادم الجديدة", "", "ar"},
		{"چگونه پایگاه داده را منتقل کردیم", "fa-IR", "fa"},
		{"איך העברנו את מסד הנתונים לשרתים חדשים", "", "he"},
		{"Πώς μεταφέραμε τη βάση δεδομένων", "", "el"},
		{"हमने डेटाबेस को नए सर्वर पर कैसे स्थानांतरित किया", "", "hi"},
		{"v1.2.3", "en", "en"},
		{"", "", ""},
		{"🎉🎉🎉", "", ""},
	} {
		for range 3 {
			if got := Language(test.text, test.hint); got != test.want {
				t.Errorf("Language(%q, %q) = %q, want %q", test.text, test.hint, got, test.want)
				break
			}
		}
	}
}

func TestLanguageLooksAtTheBeginning(t *testing.T) {
	s := strings.Repeat("Это начало по-русски, а ", 200) + strings.Repeat("the rest is English and long ", 1000)
	if got := Language(s, ""); got != "ru" {
		t.Errorf("got %q, want ru", got)
	}
}

func TestNormalLanguage(t *testing.T) {
	for tag, want := range map[string]string{
		"en-US": "en", "en_GB": "en", "RU": "ru", " pt-br ": "pt", "zh-Hant-TW": "zh", "eng": "en", "rus": "ru",
		"iw": "he", "": "", "und": "", "russian": "", "x-klingon": "", "<script>": "", "en-us, de": "",
	} {
		if got := NormalLanguage(tag); got != want {
			t.Errorf("NormalLanguage(%q) = %q, want %q", tag, got, want)
		}
	}
}

func BenchmarkLanguage(b *testing.B) {
	s := strings.Repeat("Wie wir die Datenbank auf neue Server umgezogen haben. ", 60)
	for b.Loop() {
		Language(s, "")
	}
}

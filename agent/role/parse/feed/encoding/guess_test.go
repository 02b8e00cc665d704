package encoding

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

// texts are texts in languages of feeds, with the encodings that feeds in these languages have used.
var texts = []struct{ language, encodings, text string }{
	{"zh-CN", "gbk gb18030", `新版本的数据库今天正式发布，查询速度比以前提高了三倍。开发团队表示，他们重写了存储引擎，并且修复了两百多个错误。
用户可以从官方网站免费下载，安装过程只需要几分钟。不过，旧版本的插件暂时不能使用，作者正在努力更新。
分析人士认为，这家公司在云计算市场的份额还会继续增长，但是竞争对手也在降低价格。明年春天，他们计划在上海举办一次技术大会。
昨天晚上，许多城市下了大雨，部分地铁线路暂停运行。气象部门提醒大家出门注意安全，周末天气将会好转。`},
	{"zh-TW", "big5", `新版本的資料庫今天正式發表，查詢速度比以前快了三倍。開發團隊表示，他們重寫了儲存引擎，並且修正了兩百多個錯誤。
使用者可以從官方網站免費下載，安裝過程只需要幾分鐘。不過，舊版本的外掛程式暫時不能使用，作者正在努力更新。
昨天晚上，許多縣市下了大雨，部分捷運路線暫停行駛。氣象局提醒大家出門注意安全，週末天氣將會好轉。`},
	{"ja", "shift_jis euc-jp", `新しいバージョンのデータベースが今日公開されました。検索の速さは以前の三倍になったそうです。
開発チームによると、保存の仕組みを書き直し、二百以上の不具合を直したとのことです。利用者は公式サイトから無料でダウンロードできます。
ただし、古いプラグインはしばらく使えません。作者が更新の作業を進めています。昨日の夜は各地で大雨が降り、一部の電車が止まりました。
週末は晴れる見込みです。来年の春には東京で技術者の集まりが開かれる予定です。`},
	{"ko", "euc-kr", `새로운 데이터베이스가 오늘 정식으로 공개되었습니다. 검색 속도는 이전보다 세 배 빨라졌다고 합니다.
개발팀은 저장 엔진을 다시 작성하고 이백 개가 넘는 오류를 고쳤다고 밝혔습니다. 사용자는 공식 홈페이지에서 무료로 내려받을 수 있습니다.
다만 예전 플러그인은 당분간 사용할 수 없으며 제작자가 업데이트를 준비하고 있습니다. 어젯밤 여러 도시에 큰비가 내려 일부 지하철이 멈추었습니다.
주말에는 날씨가 좋아질 것으로 보입니다.`},
	{"ru", "windows-1251 koi8-r iso-8859-5", `Сегодня вышла новая версия базы данных: запросы выполняются втрое быстрее. Разработчики сообщили, что переписали хранилище
и исправили более двухсот ошибок. Скачать программу можно бесплатно с официального сайта, установка занимает несколько минут. Старые дополнения пока не работают,
авторы готовят обновления. Вчера вечером во многих городах прошёл сильный дождь, часть поездов метро остановилась.`},
	{"uk", "windows-1251 koi8-u", `Сьогодні вийшла нова версія бази даних: запити виконуються втричі швидше. Розробники повідомили, що переписали сховище
і виправили понад двісті помилок. Завантажити програму можна безкоштовно з офіційного сайту, встановлення триває кілька хвилин. Її старі доповнення поки що не працюють.
Учора ввечері в багатьох містах пройшла сильна злива, частина поїздів метро зупинилася.`},
	{"bg", "windows-1251", `Днес излезе новата версия на базата данни: заявките се изпълняват три пъти по-бързо. Разработчиците съобщиха, че са пренаписали
хранилището и са поправили над двеста грешки. Програмата може да се изтегли безплатно от официалния сайт, а инсталирането отнема няколко минути.`},
	{"th", "windows-874", `วันนี้ฐานข้อมูลรุ่นใหม่เปิดตัวอย่างเป็นทางการ ความเร็วในการค้นหาเพิ่มขึ้นสามเท่า ทีมพัฒนากล่าวว่าได้เขียนระบบจัดเก็บใหม่และแก้ไขข้อผิดพลาดกว่าสองร้อยรายการ
ผู้ใช้สามารถดาวน์โหลดได้ฟรีจากเว็บไซต์ การติดตั้งใช้เวลาเพียงไม่กี่นาที แต่ส่วนเสริมรุ่นเก่ายังใช้งานไม่ได้ เมื่อคืนนี้ฝนตกหนักในหลายจังหวัด รถไฟฟ้าบางสายหยุดให้บริการ`},
	{"el", "windows-1253 iso-8859-7", `Κυκλοφόρησε σήμερα η νέα έκδοση της βάσης δεδομένων και τα ερωτήματα εκτελούνται τρεις φορές πιο γρήγορα. Οι προγραμματιστές
ανακοίνωσαν ότι ξαναέγραψαν τη μηχανή αποθήκευσης και διόρθωσαν πάνω από διακόσια σφάλματα. Οι χρήστες μπορούν να την κατεβάσουν δωρεάν από την επίσημη ιστοσελίδα.
Χθες το βράδυ έπεσε δυνατή βροχή σε πολλές πόλεις και μερικά τρένα σταμάτησαν.`},
	{"he", "windows-1255", `היום יצאה לאור הגרסה החדשה של מסד הנתונים, והחיפוש בה מהיר פי שלושה. המפתחים הודיעו כי כתבו מחדש את מנוע האחסון ותיקנו יותר ממאתיים שגיאות.
המשתמשים יכולים להוריד אותה בחינם מן האתר הרשמי, וההתקנה אורכת דקות ספורות. תוספים ישנים אינם פועלים לעת עתה. אמש ירד גשם כבד בערים רבות וחלק מן הרכבות נעצרו.`},
	{"ar", "windows-1256", `صدرت اليوم النسخة الجديدة من قاعدة البيانات، وأصبح البحث فيها أسرع ثلاث مرات. قال المطورون إنهم أعادوا كتابة محرك التخزين وأصلحوا أكثر من مئتي خطأ.
يستطيع المستخدمون تنزيلها مجانا من الموقع الرسمي، ولا يستغرق التثبيت إلا بضع دقائق. أما الإضافات القديمة فلا تعمل حاليا. هطلت أمس أمطار غزيرة في مدن كثيرة وتوقفت بعض القطارات.`},
	{"tr", "windows-1254", `Veritabanının yeni sürümü bugün yayımlandı; sorgular artık üç kat daha hızlı çalışıyor. Geliştiriciler depolama motorunu baştan yazdıklarını ve iki yüzden
fazla hatayı düzelttiklerini açıkladı. Kullanıcılar programı resmî siteden ücretsiz indirebilir, kurulum birkaç dakika sürüyor. Dün akşam birçok şehirde şiddetli yağmur yağdı, bazı metro hatları durdu.`},
	{"pl", "windows-1250 iso-8859-2", `Dziś ukazała się nowa wersja bazy danych, a zapytania działają trzy razy szybciej. Twórcy ogłosili, że przepisali silnik przechowywania i usunęli ponad dwieście
błędów. Program można pobrać bezpłatnie z oficjalnej strony, a instalacja trwa kilka minut. Wczoraj wieczorem w wielu miastach spadł gwałtowny deszcz i część pociągów stanęła. Śledź źródła, łącz gałęzie.`},
	{"cs", "windows-1250 iso-8859-2", `Dnes vyšla nová verze databáze a dotazy běží třikrát rychleji. Vývojáři oznámili, že přepsali úložiště a opravili více než dvě stě chyb. Program lze zdarma
stáhnout z oficiálních stránek, instalace trvá několik minut. Včera večer v mnoha městech silně pršelo a některé vlaky zůstaly stát. Těžký déšť překvapil řidiče.`},
	{"hu", "windows-1250 iso-8859-2", `Ma jelent meg az adatbázis új változata, és a lekérdezések háromszor gyorsabbak. A fejlesztők közölték, hogy újraírták a tárolót, és több mint kétszáz hibát
javítottak ki. A program ingyenesen letölthető a hivatalos oldalról, a telepítés néhány percig tart. Tegnap este sok városban erős eső esett, és több vonat megállt.`},
	{"lt", "windows-1257", `Šiandien pasirodė nauja duomenų bazės versija, užklausos vykdomos triskart greičiau. Kūrėjai pranešė, kad perrašė saugyklą ir ištaisė daugiau kaip du šimtus klaidų.
Programą galima nemokamai atsisiųsti iš oficialios svetainės, diegimas trunka kelias minutes. Vakar vakare daugelyje miestų smarkiai lijo, dalis traukinių sustojo.`},
	{"de", "windows-1252", `Heute ist die neue Version der Datenbank erschienen, Abfragen laufen dreimal schneller. Die Entwickler erklärten, sie hätten den Speicher neu geschrieben und über
zweihundert Fehler behoben. Größe und Übersicht gefallen den Prüfern. Gestern Abend regnete es in vielen Städten heftig, einige Züge blieben stehen – „für Stunden“.`},
	{"fr", "windows-1252", `La nouvelle version de la base de données est sortie aujourd’hui : les requêtes s’exécutent trois fois plus vite. Les développeurs ont réécrit le moteur de stockage
et corrigé plus de deux cents erreurs. Hier soir, il a plu très fort dans de nombreuses villes où des trains se sont arrêtés. « Ça dépend », dit l’équipe.`},
	{"en", "windows-1252", `The team’s café reopened – “at last”, as they say. Résumés are welcome; the naïve façade stays. It costs £5 or €6.`},
}

// TestDecode_UndeclaredEncodings: the bytes alone, or with the declared language, determine the encoding of a short
// feed.
func TestDecode_UndeclaredEncodings(t *testing.T) {
	for _, c := range texts {
		for label := range strings.FieldsSeq(c.encodings) {
			for _, declared := range []string{"", "<language>" + c.language + "</language>", "<language>en-us</language>"} {
				document := "<rss><channel><title>News</title>" + declared
				for i, line := range strings.Split(c.text, "\n") {
					document += fmt.Sprintf("<item><title>%s</title><link>https://a.test/%d</link><description>&lt;p class=\"x\"&gt;%s</description></item>\n", html.EscapeString(line), i, html.EscapeString(line))
				}
				enc, _ := charset.Lookup(label)
				body, err := enc.NewEncoder().String(document)
				if err != nil {
					t.Fatalf("%s in %s: %v", c.language, label, err)
				}
				if got, name, _ := Decode([]byte(body), ""); string(got) != document {
					t.Errorf("%s in %s with %q is read as %s: %.200q", c.language, label, declared, name, got)
				}
				if got, name, _ := Decode([]byte(document), ""); string(got) != document || name != "utf-8" {
					t.Errorf("%s in UTF-8 is read as %s", c.language, name)
				}
			}
		}
	}
}

// TestDecode_DeclaredLanguageDecidesShortTexts: a few bytes are ambiguous without the language.
func TestDecode_DeclaredLanguageDecidesShortTexts(t *testing.T) {
	for _, c := range []struct{ declared, label, title string }{
		{"<language>zh-cn</language>", "gbk", "中文"}, {"<dc:language>zh-TW</dc:language>", "big5", "中文"}, {"<feed xml:lang='ja'>", "shift_jis", "日本"},
		{"<language>ko</language>", "euc-kr", "서울"}, {"<language>el-GR</language>", "windows-1253", "Αθήνα"}, {"<language>tr</language>", "windows-1254", "ışığı"},
		{"<language><![CDATA[he]]></language>", "windows-1255", "שלום"}, {"<language>th</language>", "windows-874", "ไทย"}, {"<language>pl</language>", "windows-1250", "żółć"},
	} {
		document := "<rss><channel>" + c.declared + "<item><title>" + c.title + "</title></item></channel></rss>"
		enc, _ := charset.Lookup(c.label)
		body, err := enc.NewEncoder().String(document)
		if err != nil {
			t.Fatal(err)
		}
		if got, name, _ := Decode([]byte(body), "text/xml"); string(got) != document {
			t.Errorf("%s in %s is read as %s: %q", c.title, c.label, name, got)
		}
	}
}

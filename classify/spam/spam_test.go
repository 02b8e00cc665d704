package spam

import (
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/tests/cputime"
)

// items are typical feed items, written for this test.
var items = []struct {
	spam bool
	Document
}{
	{true, Document{Title: "Best online casino bonus 2024: free spins, no deposit", Text: "Claim your welcome bonus now and win real money at the best casino sites.", URL: "https://casino-king.example/bonus"}},
	{true, Document{Title: "Buy cheap viagra online", Text: "Generic viagra and cialis without prescription, order now at our online pharmacy. Best prices!", URL: "https://pills.example/1"}},
	{true, Document{Title: "Buy c1alis and v1agra", Text: "Best price, no prescription needed. Order now!", URL: "https://pills.example/2"}},
	{true, Document{Title: "Payday loans online with bad credit", Text: "Instant loan approval, no credit check. Apply now for a cash advance of $5,000.", URL: "https://loans.example/a"}},
	{true, Document{Title: "Buy backlinks and rank your website on the first page of Google", Text: "Our SEO company offers quality backlinks at affordable price. Contact us today.", URL: "https://seo.example/a"}},
	{true, Document{Title: "How I recovered my stolen Bitcoin", Text: "I was scammed but this crypto recovery expert helped me recover lost bitcoin. Email him: cryptorecover.expert@gmail.com or WhatsApp +1 555 0100 200", URL: "https://blog.example/x"}},
	{true, Document{Title: "Essay writing service: write my essay cheap", Text: "Custom essay, dissertation help and homework help from professional essay writers.", URL: "https://essays.example/x"}},
	{true, Document{Title: "Cheap replica watches", Text: "Replica Rolex and designer handbags at wholesale prices, free shipping, outlet online.", URL: "https://shop.example/x"}},
	{true, Document{Title: "Call girls in Delhi", Text: "Escort service with hot girls near me, call now +91 98765 43210 on WhatsApp.", URL: "https://escort-delhi.example/x"}},
	{true, Document{Title: "YOU HAVE WON!!!", Text: "URGENT! Your mobile number has won a £2000 prize GUARANTEED. Call 09061790121 from land line. Claim code 3030. 150ppm", URL: "https://blog.example/y"}},
	{true, Document{Title: "Download Full Movie 2024 free HD", Text: "Watch full movie online free, 123movies streaming free HD, no registration.", URL: "https://movies.example/y"}},
	{true, Document{Title: "Powerful love spell caster", Text: "Bring back your ex with black magic. Email drtemple@gmail.com, the best spell caster.", URL: "https://blog.example/z"}},
	{true, Document{Title: "QuickBooks support phone number 1-800-555-0199", Text: "Call our tech support number for printer setup and antivirus support, toll free number.", URL: "https://help.example/z"}},
	{true, Document{Title: "Онлайн казино Вулкан: бездепозитный бонус", Text: "Игровые автоматы, фриспины, рабочее зеркало. Играть на деньги, бонус за регистрацию.", URL: "https://vulkan.example/", Language: "ru"}},
	{true, Document{Title: "Займ на карту без отказа", Text: "Срочный займ онлайн, микрозайм без процентов, деньги до зарплаты. Оформите прямо сейчас!", URL: "https://zaim.example/", Language: "ru"}},
	{true, Document{Title: "Купить диплом с занесением в реестр", Text: "Диплом на заказ, купить аттестат. Низкие цены, доставка по всей России.", URL: "https://diplom.example/", Language: "ru"}},
	{true, Document{Title: "Заработок в интернете без вложений", Text: "Быстрый заработок, пассивный доход от 5000 рублей в день. Переходи по ссылке!", URL: "https://money.example/", Language: "ru"}},
	{true, Document{Title: "Накрутка подписчиков дёшево", Text: "Купить подписчиков, накрутка лайков и просмотров, раскрутка сайтов. Лучшие цены.", URL: "https://smm.example/", Language: "ru"}},
	{true, Document{Title: "Лучшее кaзинo", Text: "Играть в кaзино онлайн, фpиcпины и джекпот, букмекерская контора с бoнycом.", URL: "https://blog.example/ru", Language: "ru"}},

	{false, Document{Title: "Kubernetes 1.32 released", Text: "The release notes: bug fixes, improvements of the scheduler and a new API.", URL: "https://kubernetes.io/blog/1"}},
	{false, Document{Title: "How spammers sell viagra: an analysis of a botnet", Text: "We look at a spam campaign for online pharmacy sites. The malware sends phishing mail with phrases such as \"no prescription\" and \"online casino\".", URL: "https://security.example/1"}},
	{false, Document{Title: "Building a spam filter with naive Bayes", Text: "Words such as viagra, casino, \"free spins\" and \"act now\" are likelier in spam. The code is in Python on GitHub.", URL: "https://ml.example/1"}},
	{false, Document{Title: "Online casino hacked, data of players leaked", Text: "Researchers found a database of an online casino without a password. The breach exposed names and addresses.", URL: "https://news.example/1"}},
	{false, Document{Title: "Startup raises $100M to fight fraud", Text: "The company wants to use the money to hire developers. Investors put $30M into it last year.", URL: "https://news.example/2"}},
	{false, Document{Title: "Black Friday deals: 30% off JetBrains IDEs", Text: "Discount code inside. Limited time offer until Monday.", URL: "https://news.example/3"}},
	{false, Document{Title: "Win a free ticket to GopherCon", Text: "Sign up for the newsletter and win a ticket. The draw is on Friday.", URL: "https://go.example/4"}},
	{false, Document{Title: "WTF IS WRONG WITH CSS", Text: "Centering a div is hard!!! Here is why.", URL: "https://css.example/4"}},
	{false, Document{Title: "New video on my channel: writing an OS in Rust", Text: "Like and subscribe! Check out my channel for the other parts. https://www.youtube.com/watch?v=abc", URL: "https://www.youtube.com/watch?v=abc"}},
	{false, Document{Title: "Weekly links #12", Text: "https://a.example/1 https://b.example/2 https://c.example/3 https://d.example/4", HTML: `<a href="https://a.example/1">One</a> <a href="https://b.example/2">Two</a> <a href="https://c.example/3">Three</a>`, URL: "https://links.example/12"}},
	{false, Document{Text: "Shipped it! https://github.com/x/y/releases/tag/v1.2", URL: "https://mastodon.example/@x/1"}},
	{false, Document{Title: "Роскомнадзор заблокировал онлайн-казино", Text: "Суд запретил рекламу казино. Мошенники рассылали фишинг от имени банков.", URL: "https://news.example/ru", Language: "ru"}},
	{false, Document{Title: "Как мы ускорили кредитный конвейер банка", Text: "Микрокредиты онлайн выдаёт сервис на Go. Разработка, база данных, код и релиз.", URL: "https://bank.example/ru", Language: "ru"}},
	{false, Document{Title: "SQLщик и Docker'ом по Kubernetes'у", Text: "Обновили IT-инфраструктуру: CPA-маркетинг, Telegram-канал, PHP-разработчики.", URL: "https://habr.example/ru", Language: "ru"}},
	{false, Document{Title: "Why i18n, l10n and k8s are bad names", Text: "e-mail, set-up and on-line are spelt in two ways; so is C++17 and utf8mb4.", URL: "https://words.example/"}},
}

// helpDesks are offers of fake support and reservation desks, and reports about them, written for this test.
var helpDesks = []struct {
	spam bool
	Document
}{
	{true, Document{Title: "Re: How to read files in Go", Text: "Is your inkjet stuck? Dial our printer support helpline number, our certified technicians are available 24/7."}},
	{true, Document{Title: "Comment on Sorting in Rust", Text: "Book a flight with Spirit Airlines reservations number. Our agents find amazing deals on airline tickets."}},
	{true, Document{Title: "Comment on Sorting in Rust", Text: "If McAfee does not start, call the McAfee customer service phone number and get instant help from our technical experts.", URL: "https://blog.example/1#c2"}},
	{true, Document{Title: "Outlook support phone number", Text: "Give us a call on our toll-free number 1-844-555-0101 for any kind of assistance with your email.", URL: "https://blog.example/2"}},
	{true, Document{Title: "A tour of goroutines", Text: "Putlocker", URL: "https://blog.example/1#c3"}},
	{true, Document{Text: "Nice post. Our technical experts solve router problems, contact the helpline."}},
	{true, Document{Text: "I enjoyed it. java training in Pune"}},
	{true, Document{Text: "Read our blogs: canon printer setup, canon printer offline, canon printer wifi"}},
	{true, Document{Title: "Техподдержка принтеров", Text: "Ремонт принтеров, заправка картриджей. Наши мастера помогут, звоните по телефону 8 (800) 555-01-01, круглосуточная поддержка.", Language: "ru", URL: "https://blog.example/3"}},
	{true, Document{Title: "Телефон техподдержки почты", Text: "Горячая линия поддержки: звоните по номеру 8 (800) 555-01-01, наши операторы помогут.", Language: "ru", URL: "https://blog.example/4"}},

	{false, Document{Title: "Fake customer support numbers top search results", Text: "Scammers buy ads with a fake tech support number. Victims who dial the toll free number are asked for remote access.", URL: "https://news.example/10"}},
	{false, Document{Title: "FTC sues operators of a technical support scam", Text: "The regulator says that callers pretended to be Microsoft technicians and sold antivirus support over a toll-free number.", URL: "https://news.example/11"}},
	{false, Document{Title: "How I called a printer support number and met a scammer", Text: "The HP printer was offline. The first customer service number in the results belonged to a fraudster.", URL: "https://blog.example/12"}},
	{false, Document{Title: "Delta Airlines cancels flights after an outage", Text: "The airline asks travellers to rebook on its website; its customer service is overloaded and the reservations system is down.", URL: "https://news.example/13"}},
	{false, Document{Title: "HP printer firmware blocks other cartridges", Text: "Owners of an HP printer see a printer error after the update. HP support answers that this is intended.", URL: "https://news.example/14"}},
	{false, Document{Title: "Maintenance on Sunday", Text: "The service is down from 2 to 4. For further assistance contact our support team, available 24/7.", URL: "https://status.example/15"}},
	{false, Document{Title: "Film studios win against 123movies", Text: "The court ordered providers to block 123movies and Putlocker.", URL: "https://news.example/16"}},
	{false, Document{Title: "Block 123movies", Text: "123movies", URL: "https://news.example/17"}},
	{false, Document{Text: "How do I print the sheet from Python? My printer is offline and the driver has no support for numbers."}},
	{false, Document{Text: "The server at 10.20.30.40 refused to connect in 2018, error 404."}},
	{false, Document{Title: "Мошенники звонят от имени службы поддержки банка", Text: "Они просят позвонить по номеру горячей линии и установить программу. Жертва теряет деньги.", Language: "ru", URL: "https://news.example/18"}},
	{false, Document{Title: "Минздрав открыл горячую линию", Text: "Звоните по телефону 8 (800) 555-01-01, линия работает круглосуточно.", Language: "ru", URL: "https://news.example/19"}},
}

func TestClassify_HelpDesks(t *testing.T) {
	for _, d := range helpDesks {
		if v := Default().Classify(d.Document, History{}); v.Score >= Default().Threshold() != d.spam {
			t.Errorf("%q, %q: got %.3f, want spam %v\n\t%s", d.Title, d.Text, v.Score, d.spam, strings.Join(v.Reasons(), "\n\t"))
		}
	}
}

func TestClassify_Items(t *testing.T) {
	for _, item := range items {
		v := Default().Classify(item.Document, History{})
		if got := v.Score >= Default().Threshold(); got != item.spam {
			t.Errorf("%q: got %.3f, spam %v, want %v\n\t%s", item.Title, v.Score, got, item.spam, strings.Join(v.Reasons(), "\n\t"))
		}
		if item.spam && len(v.Reasons()) < 2 {
			t.Errorf("%q: got the reasons %q, want several: no evidence decides alone", item.Title, v.Reasons())
		}
	}
}

func TestClassify_Flags(t *testing.T) {
	for _, test := range []struct {
		Document
		want string
	}{
		{Document{Title: "Sponsored: the best IDE", Text: "An IDE."}, "sponsored"},
		{Document{Title: "How sponsored posts work", Text: "We look at what they cost."}, ""},
		{Document{Title: "Новый ноутбук", Text: "Обзор. На правах рекламы.", Language: "ru"}, "sponsored"},
		{Document{Title: "Обзор", Text: "Реклама. ООО Ромашка, erid: 2VtzqwXYZ", Language: "ru"}, "sponsored"},
		{Document{Title: "Обзор", HTML: `<a href="https://shop.example/?erid=2Vtzqw">здесь</a>`, Language: "ru"}, "sponsored"},
		{Document{Title: "Links", HTML: `<a href="https://shop.example/" rel="nofollow sponsored">shop</a>`}, "sponsored"},
		{Document{Title: "Books", HTML: `<a href="https://www.amazon.com/dp/1?psc=1&amp;tag=me-20">a book</a>`}, "affiliate"},
		{Document{Title: "Books", Text: "As an Amazon Associate I earn from qualifying purchases."}, "affiliate"},
		{Document{Title: "A post about amazon", HTML: `<a href="https://amazon.com/dp/1">a book</a>`}, ""},
		{Document{Title: "Hot sex video", Text: "porn with naked milf"}, "adult"},
		{Document{Title: "Порно видео", Text: "голые", Language: "ru"}, "adult"},
		{Document{Title: "A law against porn on the internet", Text: strings.Repeat("The parliament speaks of a law. ", 60)}, ""},
		{Document{Title: "What the fuck is a monad", Text: "A monad is a monoid in the category of endofunctors."}, ""},
		{Document{Title: "Sponsored: naked books", Text: "Naked girls, erotica. This post contains affiliate links."}, "adult affiliate sponsored"},
	} {
		v := Default().Classify(test.Document, History{})
		if got := strings.Join(v.Flags, " "); got != test.want {
			t.Errorf("%q: got %q, want %q; %q", test.Title, got, test.want, v.Reasons())
		}
	}
}

func TestClassify_FlagsAreNotSpam(t *testing.T) {
	v := Default().Classify(Document{Title: "Sponsored: a database", Text: "This post contains affiliate links.", URL: "https://db.example/"}, History{})
	if len(v.Flags) != 2 || v.Score > 0.1 {
		t.Errorf("got %v and %.3f, want two flags and no spam", v.Flags, v.Score)
	}
}

func TestClassify_DisguisedWords(t *testing.T) {
	for text, want := range map[string]bool{
		"buy v1agra":       true,
		"buy vi@gra":       true,
		"buy v.i.a.g.r.a":  true,
		"buy v\u200Biagra": true,
		"buy viаgra":       true, // with a Russian а
		"онлайн кaзино":    true, // with a Latin a
		"buy viagra":       false,
		"k8s and i18n":     false,
		"an e-mail":        false,
		"SQLщик":           false,
		"wow!online":       false,
	} {
		v := Default().Classify(Document{Title: text, URL: "https://a.example/"}, History{})
		got := slices.ContainsFunc(v.Reasons(), func(why string) bool { return strings.HasPrefix(why, "spam: disguised ") })
		if got != want {
			t.Errorf("%q: got %v, want %v: %q", text, got, want, v.Reasons())
		}
	}
}

func TestClassify_PhoneNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"call 09061790121 now":              "premium-phone",
		"call +44 20 7946 0958":             "phone",
		"позвоните 8 (800) 555-35-35":       "phone",
		"1-800-555-0199":                    "phone",
		"call 0207-083-6089":                "phone",
		"txt WIN to 80082":                  "short-code",
		"it costs 150p per msg, 150ppm":     "tariff",
		"calls are £1.50/min.":              "tariff",
		"at 1415297812 seconds":             "",
		"commit 09061790121abcdef":          "",
		"https://a.example/09061790121":     "",
		"version 1.800.555.0199":            "",
		"video in 1080p":                    "",
		"sent in 2014":                      "",
		"0.0617901212 and 1,234,567,890.00": "",
	} {
		v := Default().Classify(Document{Title: "x", Text: text}, History{})
		got := ""
		for _, kind := range []string{"premium-phone", "phone", "short-code", "tariff"} {
			if slices.ContainsFunc(v.Reasons(), func(why string) bool { return strings.HasPrefix(why, "spam: "+kind+" ") }) {
				got = kind
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q: %q", text, got, want, v.Reasons())
		}
	}
}

func TestClassify_DomainsIncludeSubdomains(t *testing.T) {
	f, err := Parse([]byte("-- domains.txt --\n[bad 4]\nbad.example\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		Document
		want bool
	}{
		{Document{URL: "https://bad.example/x"}, true},
		{Document{URL: "https://www.bad.example/x"}, true},
		{Document{Host: "a.b.BAD.example"}, true},
		{Document{Text: "see http://a.bad.example/x."}, true},
		{Document{HTML: `<p><a href="https://bad.example/y">y</a>`}, true},
		{Document{URL: "https://notbad.example/"}, false},
		{Document{URL: "https://bad.example.org/"}, false},
		{Document{Text: "bad example"}, false},
	} {
		v := f.Classify(test.Document, History{})
		got := slices.ContainsFunc(v.Reasons(), func(why string) bool { return strings.Contains(why, "domain bad.example (domains.txt:2)") })
		if got != test.want {
			t.Errorf("%+v: got %v, want %v: %q", test.Document, got, test.want, v.Reasons())
		}
	}
}

func TestClassify_PatternsMatchAtWordStart(t *testing.T) {
	f, err := Parse([]byte("-- urls.txt --\n[bad 4]\ncialis\n*viagra\npoker*bonus\n-- emails.txt --\n[box 4]\nloan*@\n"))
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"https://a.example/buy-cialis":          true,
		"https://cialis.example/":               true,
		"https://javaspecialists.example/":      false,
		"https://specialists.example/?q=cialis": true,
		"https://buyviagra.example/":            true,
		"https://a.example/POKER-site?x=bonus":  true,
		"https://a.example/bonus/poker":         false,
		"loans4you@a.example":                   true,
		"write to easy.loan@a.example, or so":   true,
		"reloaned@a.example":                    false,
		"https://a.example/loan":                false,
	} {
		v := f.Classify(Document{Title: "x", Text: address}, History{})
		got := slices.ContainsFunc(v.Reasons(), func(why string) bool {
			return strings.HasPrefix(why, "spam: bad ") || strings.HasPrefix(why, "spam: box ")
		})
		if got != want {
			t.Errorf("%s: got %v, want %v: %q", address, got, want, v.Reasons())
		}
	}
}

func TestClassify_PhrasesCountLessInLongTexts(t *testing.T) {
	filler := strings.Repeat("We speak of the weather and of the sea. ", 200)
	short := Default().Classify(Document{Title: "News", Text: "An online casino with free spins.", URL: "https://a.example/"}, History{})
	long := Default().Classify(Document{Title: "News", Text: "An online casino with free spins. " + filler, URL: "https://a.example/"}, History{})
	if short.Score < 2*long.Score {
		t.Errorf("got %.3f for the short text and %.3f for the long one, want much less", short.Score, long.Score)
	}
}

func TestClassify_HistoryNeverDecidesAlone(t *testing.T) {
	habits := History{Items: 32, Similar: 32, Copies: 32}
	for _, title := range []string{"v1.2.3 released", "Weekly links #12", "All systems operational", "Planet Debian: news"} {
		d := Document{Title: title, Text: "The usual text.", URL: "https://a.example/"}
		if v := Default().Classify(d, habits); v.Score > 0.1 {
			t.Errorf("%q: got %.3f, want no spam by history alone: %q", title, v.Score, v.Reasons())
		}
	}
	d := Document{Title: "Online casino in Berlin", Text: "The games of the day.", URL: "https://a.example/"}
	alone, flooded := Default().Classify(d, History{}), Default().Classify(d, habits)
	if alone.Score >= 0.5 || flooded.Score < 0.5 {
		t.Errorf("got %.3f alone and %.3f in a flood, want the flood to decide", alone.Score, flooded.Score)
	}
}

func TestClassify_IsDeterministic(t *testing.T) {
	for _, item := range items {
		first := Default().Classify(item.Document, History{Items: 20, Similar: 15, Copies: 6})
		for range 5 {
			if repeated := Default().Classify(item.Document, History{Items: 20, Similar: 15, Copies: 6}); repeated.Score != first.Score || !slices.Equal(repeated.Reasons(), first.Reasons()) {
				t.Fatalf("%q: got %v, then %v", item.Title, first, repeated)
			}
		}
	}
}

func TestClassify_BoundsInput(t *testing.T) {
	start := cputime.Used(t)
	d := Document{
		Title: strings.Repeat("casino ", 1<<18), Text: strings.Repeat("Casino v1agra http://a.example/ a@b.example ", 1<<16), URL: "https://" + strings.Repeat("a.", 1<<20) + "example/",
		HTML: strings.Repeat(`<a href="https://a.example/viagra">x</a>`, 1<<16), Author: strings.Repeat("@", 1<<20),
	}
	v := Default().Classify(d, History{})
	if len(v.Reasons()) > maxWhy || len(strings.Join(v.Reasons(), "")) > 10_000 {
		t.Errorf("got %d reasons of %d bytes", len(v.Reasons()), len(strings.Join(v.Reasons(), "")))
	}
	if took := cputime.Used(t) - start; took > 5*time.Second {
		t.Errorf("took %s of CPU time", took)
	}
}

func FuzzJudge(f *testing.F) {
	for _, item := range items {
		f.Add(item.Title, item.Text, item.HTML, item.URL, item.Language)
	}
	f.Add("", "v\u200Biagra £1 09\xff061790121 a@b.c www.", `<a href="http://x" <a rel="`, "://@", "xx")
	f.Fuzz(func(t *testing.T, title, text, html, url, language string) {
		v := Default().Classify(Document{Title: title, Text: text, HTML: html, URL: url, Language: language}, History{Items: 9, Similar: 9, Copies: 9})
		if !(v.Score >= 0 && v.Score <= 1) || len(v.Reasons()) > maxWhy || !slices.IsSorted(v.Flags) {
			t.Errorf("got %+v", v)
		}
	})
}

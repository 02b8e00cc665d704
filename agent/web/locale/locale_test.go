package locale

import (
	"html/template"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestTexts(t *testing.T) {
	now := time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		text             Text
		english, russian string
	}{
		{T("Feeds"), "Feeds", "Ленты"},
		{Data("Feeds"), "Feeds", "Feeds"},
		{T("no such text %s", T("Feeds")), "no such text Feeds", "no such text Ленты"},
		{Plural(1, "feed"), "1 feed", "1 лента"},
		{Plural(2, "feed"), "2 feeds", "2 ленты"},
		{Plural(11, "feed"), "11 feeds", "11 лент"},
		{Plural(21, "feed"), "21 feeds", "21 лента"},
		{Plural(2_000_000, "feed"), "2,000,000 feeds", "2\u00a0000\u00a0000 лент"},
		{Bytes(0), "0 B", "0 Б"},
		{Bytes(1_490_000), "1.5 MB", "1,5 МБ"},
		{Bytes(12_345_678_901_234_567), "12,346 TB", "12\u00a0346 ТБ"},
		{Percent(0.001), "<1 %", "<1 %"},
		{Percent(0.5), "50 %", "50 %"},
		{Span(7300), "2 hours", "2 часа"},
		{Span(0), "0 seconds", "0 секунд"},
		{Ago(5 * 24 * time.Hour), "5 days ago", "5 дней назад"},
		{Ago(-61 * time.Second), "in 1 minute", "через 1 минуту"},
		{Ago(time.Second), "just now", "только что"},
		{Rate(0.5), "one in 2 days", "одна за 2 дня"},
		{NewTimestamp(now, now).Full, "9 Mar 2026, 12:00 UTC", "9 мар. 2026, 12:00 UTC"},
		{Date(now, "Monday, 2 January"), "Monday, 9 March", "понедельник, 9 марта"},
		{Join(", ", T("Feeds"), Data("x")), "Feeds, x", "Ленты, x"},
		{Sentence(T("just now")), "Just now.", "Только что."},
		{Composed("The address does not exist (HTTP 404)."), "The address does not exist (HTTP 404).", "Такого адреса нет (HTTP 404)."},
		{Composed("unknown 7 % of it"), "unknown 7 % of it", "unknown 7 % of it"},
	} {
		if got := test.text.In(English); got != test.english {
			t.Errorf("English: %q, want %q", got, test.english)
		}
		if got := test.text.In(Russian); got != test.russian {
			t.Errorf("Russian: %q, want %q", got, test.russian)
		}
	}
	if Composed("") != nil || Join(", ") != nil || Sentence(nil) != nil || Rate(0) != nil || NewTimestamp(time.Time{}, now) != nil {
		t.Error("no text is not nil")
	}
}

func TestFrom(t *testing.T) {
	for _, test := range []struct {
		cookie, accept string
		want           *Language
	}{
		{"", "", English},
		{"", "ru", Russian},
		{"", "ru-RU,ru;q=0.9,en;q=0.8", Russian},
		{"", "de,ru;q=0.5", Russian},
		{"", "de", English},
		{"", "en-GB,ru;q=0.9", English},
		{"", "\x00;;q=z", English},
		{"en", "ru", English},
		{"ru", "en", Russian},
		{"xx", "ru", Russian},
	} {
		r, _ := http.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", test.accept)
		if test.cookie != "" {
			r.AddCookie(&http.Cookie{Name: Cookie, Value: test.cookie})
		}
		if got := From(r); got != test.want {
			t.Errorf("cookie %q, accepted %q: %s", test.cookie, test.accept, got.Code)
		}
	}
}

func TestTranslate(t *testing.T) {
	const source = `<p title="Feeds" class="Feeds">Feeds<br> <code>Feeds</code> <b>
  Feeds </b> {{.Text}} {{.Data}} {{if .Text}}<i{{if .Data}} aria-label="Feeds, {{.Data}}"{{end}}>{{else}}<i>{{end}}Feeds</i>
{{range .List}}<u>Feeds</u>{{end}}{{plural 2 "feed"}} {{t "Feeds"}} {{with $x := .Text}}{{$x}}{{end}} {{.None}}<a href="?q={{.Data | urlquery}}"></a><!-- --></p><script>Feeds</script>`
	data := struct {
		Text, None Text
		Data       string
		List       []int
	}{T("Feeds"), nil, "<Feeds>", []int{1}}
	for _, test := range []struct {
		language *Language
		want     string
	}{
		{English, `<p title="Feeds" class="Feeds">Feeds<br> <code>Feeds</code> <b>
  Feeds </b> Feeds &lt;Feeds&gt; <i aria-label="Feeds, &lt;Feeds&gt;">Feeds</i>
<u>Feeds</u>2 feeds Feeds Feeds <a href="?q=%3CFeeds%3E"></a></p><script>Feeds</script>`},
		{Russian, `<p title="Ленты" class="Feeds">Ленты<br> <code>Feeds</code> <b>
  Ленты </b> Ленты &lt;Feeds&gt; <i aria-label="Feeds, &lt;Feeds&gt;">Ленты</i>
<u>Ленты</u>2 ленты Ленты Ленты <a href="?q=%3CFeeds%3E"></a></p><script>Feeds</script>`},
	} {
		parsed := template.Must(template.New("").Funcs(test.language.Functions()).Parse(source))
		test.language.Translate(parsed)
		var b strings.Builder
		if err := parsed.Execute(&b, data); err != nil {
			t.Fatal(err)
		}
		if b.String() != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.language.Name, b.String(), test.want)
		}
	}
}

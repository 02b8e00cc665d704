package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRulesTitle_Repairs(t *testing.T) {
	for _, test := range []struct{ name, title, feed, want string }{
		{"shouted", "THE NEW VERSION OF THE KERNEL IS HERE", "", "The new version of the kernel is here"},
		{"shouted in Russian", "НОВАЯ ВЕРСИЯ ЯДРА ВЫШЛА СЕГОДНЯ", "", "Новая версия ядра вышла сегодня"},
		{"shouted, with acronyms", "NASA LAUNCHES NEW HTTP SERVER FOR THE USA", "", "NASA launches new HTTP server for the USA"},
		{"shouted, with an acronym's case", "NASA'S NEW SERVER ISN'T HERE YET", "", "NASA's new server isn't here yet"},
		{"shouted, with Russian acronyms", "МИД РФ ОБЪЯВИЛ О НОВЫХ ПРАВИЛАХ", "", "МИД РФ объявил о новых правилах"},
		{"two uppercase sentences", "IT IS OUT! WHAT NOW? I'M NOT SURE I KNOW", "", "It is out! What now? I'm not sure I know"},
		{"shouted with numbers", "UBUNTU 26.04 LTS RELEASED WITH X11 SUPPORT", "", "Ubuntu 26.04 LTS released with X11 support"},
		{"uppercase with a dot in a word", "SETUP.EXE GETS A NEW ENGINE", "", "Setup.exe gets a new engine"},
		{"shouted in Greek", "Ο ΝΕΟΣ ΠΥΡΗΝΑΣ ΕΙΝΑΙ ΕΔΩ", "", "Ο νεος πυρηνας ειναι εδω"},
		{"shouted with accents", "ÉTÉ À LA PLAGE AVEC LE CHAT", "", "Été à la plage avec le chat"},
		{"mostly acronyms", "HTTP TLS SSH AND VPN", "", "HTTP TLS SSH AND VPN"},
		{"acronyms only", "CVE-2026-1234 RCE IN PHP", "", "CVE-2026-1234 RCE IN PHP"},
		{"too short to count as uppercase", "GO 1.26 IS OUT", "", "GO 1.26 IS OUT"},
		{"two words", "BREAKING NEWS", "", "BREAKING NEWS"},
		{"partly uppercase", "iPHONE SALES ARE UP AGAIN", "", "iPHONE SALES ARE UP AGAIN"},
		{"a script without cases", "東京 NEWS FOR ALL OF JAPAN", "", "東京 NEWS FOR ALL OF JAPAN"},

		{"the site's name", "A cat sat - My Blog", "My Blog", "A cat sat"},
		{"the site's name in another case", "A cat sat | MY BLOG", "My &amp;Blog", "A cat sat | MY BLOG"},
		{"the site's escaped name", "A cat sat | Q&amp;A", "q&amp;amp;a", "A cat sat"},
		{"the site's name twice", "A cat sat – My Blog - My Blog", "My Blog", "A cat sat"},
		{"a Russian site's name", "Кот сел — Мой Блог", "мой блог", "Кот сел"},
		{"another site's name", "A cat sat - My Blog", "Blog", "A cat sat - My Blog"},
		{"the site's name in a sentence", "Welcome to My Blog", "My Blog", "Welcome to My Blog"},
		{"only the site's name", "My Blog", "My Blog", "My Blog"},
		{"repetitions of the site's name", " - My Blog", "My Blog", "- My Blog"},
		{"no site's name", "A cat - sat", "", "A cat - sat"},

		{"escaped twice", "AT&amp;amp;T &amp;quot;wins&amp;quot;", "", `AT&T "wins"`},
		{"markup", "A <b>bold</b> &lt;i&gt;move&lt;/i&gt;", "", "A bold move"},
		{"nothing", "", "My Blog", ""},
	} {
		if got := Default().Title(test.title, test.feed, 300); got != test.want {
			t.Errorf("%s: Title(%q, %q) = %q, want %q", test.name, test.title, test.feed, got, test.want)
		}
	}
}

func TestRulesTitle_RepairsAreOptional(t *testing.T) {
	r := parsed(t, `{"titles": {"calm": false, "cutSite": false}}`)
	const title = "THE NEW VERSION OF THE KERNEL - MY BLOG"
	if got := r.Title(title, "My Blog", 300); got != title {
		t.Errorf("got %q, want %q", got, title)
	}
	r = parsed(t, `{"titles": {"acronyms": ["kernel"]}}`)
	if got, want := r.Title(title, "My Blog", 300), "The new version of the KERNEL"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRulesTitle_CutsAtLimit(t *testing.T) {
	for limit := range 40 {
		got := Default().Title("НОВАЯ ВЕРСИЯ ЯДРА ВЫШЛА - Блог", "Блог", limit)
		if len(got) > limit || !utf8.ValidString(got) || !strings.HasPrefix("Новая версия ядра вышла", got) && limit > 20 {
			t.Errorf("cut to %d bytes: got %q", limit, got)
		}
	}
}

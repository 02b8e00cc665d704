package locale

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestScriptTexts(t *testing.T) {
	got := ScriptTexts(
		[]byte(`show(t("Feeds"), t("Feeds of %s", name), set("Rules"), t(words)); show(n(list.of(1).length, "%d feed", "%d feeds"), t("All"));`),
		[]byte("`<p>${t(\"Feeds\")}</p>`; // n(\nfunction t(english) {}; n(2, one, other); plan(3, \"a\", \"b\")"),
	)
	if want := []string{"%d feeds", "All", "Feeds", "Feeds of %s"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScript(t *testing.T) {
	l := newLanguage("ru", "", []byte(`[interface]
"Feeds" = "</script>\u2028"
"%d feeds" = { one = "%d лента", few = "%d ленты", many = "%d лент", other = "%d ленты" }
"Rules" = "Правила"
`))
	want := `globalThis.texts = {"%d feeds":{"few":"%d ленты","many":"%d лент","one":"%d лента","other":"%d ленты"},"Feeds":"\u003c/script\u003e\u2028"};` + "\n"
	if got := string(l.Script([]string{"%d feeds", "Feeds", "none"})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, got := range map[string][]byte{"no text": l.Script(nil), "none translated": l.Script([]string{"none"}), "English": English.Script([]string{"Feeds"})} {
		if got != nil {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// addScripts adds the texts of scripts.
func addScripts(t *testing.T, used sources, folders ...string) {
	for _, folder := range folders {
		each(t, folder, ".js", func(path string) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range ScriptTexts(content) {
				used.add(text, path, strings.Contains(text, "%d"))
			}
		})
	}
}

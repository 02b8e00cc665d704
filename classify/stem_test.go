package classify

import (
	"slices"
	"strings"
	"testing"
)

func TestStem(t *testing.T) {
	for _, test := range []struct{ word, language, want string }{
		{"databases", "en", "databas"},
		{"vulnerabilities", "", "vulner"},
		{"базами", "ru", "баз"},
		{"базами", "en", "баз"},
		{"servers", "ru", "server"},
		{"serveurs", "fr", "serveur"},
		{"servidores", "es", "servidor"},
		{"häuser", "de", "häuser"},
		{"c++", "en", "c++"},
		{"c#", "en", "c#"},
		{"node.js", "en", "node.js"},
		{"ipv6", "en", "ipv6"},
		{"don't", "en", "don't"},
		{"torvalds's", "en", "torvald"},
		{"東", "ja", "東"},
		{"", "en", ""},
	} {
		if got := Stem(test.word, test.language); got != test.want {
			t.Errorf("Stem(%q, %q) = %q, want %q", test.word, test.language, got, test.want)
		}
	}
}

func TestStemsLeavesStopWordsOut(t *testing.T) {
	got := Stems("The state of the databases, и базы данных: ещё о них", "ru")
	if want := []string{"state", "databas", "баз", "дан"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Stems(" -- ", "en"); got != nil {
		t.Errorf("got %q, want nil", got)
	}
}

func BenchmarkStems(b *testing.B) {
	s := strings.Repeat("The new version of the container orchestrator closes a vulnerability and speeds up the scheduler for large clusters. ", 25)
	b.ReportAllocs()
	for b.Loop() {
		Stems(s, "en")
	}
}

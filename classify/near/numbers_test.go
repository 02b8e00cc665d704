package near

import (
	"slices"
	"testing"
)

func TestNumbers(t *testing.T) {
	for title, want := range map[string][]string{
		"quake of 7.1 on 8 ноября":      {"7.1", "8"},
		"world war ii part iii":         {"2", "3"},
		"chapter xiv of xxxix":          {"14", "39"},
		"louis xvi and the mix of vi":   {"16", "6"},
		"i prefer x to v":               nil,
		"iix ixv xc xxxx viiii livid i": nil,
		"ipv4 and xi2":                  {"4", "2"},
	} {
		var got []string
		numbers(title, func(n string) bool { got = append(got, n); return true })
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

// Titles of one pattern about different subjects are no duplicates.
func TestOtherInstance(t *testing.T) {
	common := []string{"погода", "в", "на", "завтра", "weather", "of", "for", "considered", "harmful", "new", "cases", "covid", "company", "buys"}
	rare := func(word string) bool { return !slices.Contains(common, word) }
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"погода в бресте на завтра", "погода в гомеле на завтра", true},
		{"rebase considered harmful", "inheritance considered harmful", true},
		{"new cases of covid in san diego", "new cases of covid in kern county", true},
		{"rebase considered harmful", "rebasing considered harmful", false}, // another form
		{"rebase considered harmful", "rebase in git considered harmful", false},
		{"google buys nest labs", "company buys nest labs", false}, // a synonym that is not rare
		{"yandex opens a data centre in finland for its cloud", "in finland yandex opens a data centre", false},
	} {
		if got := otherInstance(c.a, c.b, rare); got != c.want {
			t.Errorf("%q, %q: got %v, want %v", c.a, c.b, got, c.want)
		}
		if got := otherInstance(c.b, c.a, rare); got != c.want {
			t.Errorf("%q, %q: got %v, want %v", c.b, c.a, got, c.want)
		}
	}
}

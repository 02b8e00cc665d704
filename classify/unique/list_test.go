package unique

import (
	"fmt"
	"strings"
	"testing"
)

// words returns n different words from the given one on.
func words(from, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint("word", from+i))
	}
	return strings.Join(list, " ")
}

func TestList_KeepsWhatIsUniqueEnough(t *testing.T) {
	for _, test := range []struct {
		name    string
		percent float64
		texts   []string
		kept    string
	}{
		{"equal titles", 100, []string{"Dam of Lower Varne breaks at night", "Dam of Lower Varne breaks at night!"}, "a"},
		{"half of a text, 40 %", 40, []string{words(0, 100), words(50, 100)}, "a"},
		{"half of a text, 60 %", 60, []string{words(0, 100), words(50, 100)}, "ab"},
		{"a title and another", 20, []string{"Dam of Lower Varne breaks", "Council of Lower Varne meets"}, "ab"},
		{"the third repeats the first", 80, []string{words(0, 60), words(100, 60), words(0, 58)}, "ab"},
		{"what was hidden hides nothing", 50, []string{words(0, 100), words(30, 100), words(60, 100)}, "ac"},
		{"texts without words", 1, []string{"", "...", "one", "one"}, "abcd"},
	} {
		list, kept := List{Percent: test.percent}, ""
		for i, text := range test.texts {
			id := string(rune('a' + i))
			if r, repeats := list.Add(id, text, "en"); !repeats {
				kept += id
			} else if r.Of == "" || r.Percent < test.percent || r.Percent > 100 {
				t.Errorf("%s: %s repeats %+v, want a text that agrees by %v %%", test.name, id, r, test.percent)
			}
		}
		if kept != test.kept {
			t.Errorf("%s: kept %s, want %s", test.name, kept, test.kept)
		}
	}
}

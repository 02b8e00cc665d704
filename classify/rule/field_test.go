package rule

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of fields in docs/rules.md")

// TestFields_AreDocumented compares the table of fields in docs/rules.md with [Fields].
func TestFields_AreDocumented(t *testing.T) {
	const name, head = "../../docs/rules.md", "| field | is | worth | takes |\n|---|---|---|---|\n"
	var table strings.Builder
	for f, info := range Fields[Anywhere+1:] {
		var kinds []string
		for _, k := range info.Kinds {
			kinds = append(kinds, kindNames[k])
		}
		if info.Name == "" || info.Doc == "" || len(kinds) == 0 || info.Rank == 0 {
			t.Errorf("field %d is incomplete: %+v", f+1, info)
		}
		fmt.Fprintf(&table, "| `%s:` | %s | %d | %s |\n", info.Name, info.Doc, info.Worth, strings.Join(kinds, ", "))
	}
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(page), head)
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	if want := before + head + table.String() + after; !found || string(page) != want {
		if !*update {
			t.Fatal("the table of fields in docs/rules.md differs: go test ./classify/rule -run Fields -update")
		}
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFields_RanksDiffer(t *testing.T) {
	ranks := make(map[int]Field)
	for f := Anywhere + 1; f < FieldCount; f++ {
		if other, twice := ranks[Fields[f].Rank]; twice {
			t.Errorf("%v and %v have one rank", f, other)
		}
		ranks[Fields[f].Rank] = f
	}
}

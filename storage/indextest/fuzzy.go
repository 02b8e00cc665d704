package indextest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"feedmesh/storage"
)

func typosMatch(t *testing.T, x storage.Index) {
	put(t, x, item("k8s", "Kubernetes cluster", "scheduling of containers"), item("pg", "PostgreSQL and the planner", ""), item("ru", "Уязвимость планировщика", ""),
		changed(item("en", "Planner basics", ""), func(it *storage.IndexItem) { it.Language = "en" }))
	for text, want := range map[string][]string{
		"kuberntes":                  {"k8s"},
		"kuberentes":                 {"k8s"}, // transposed letters
		"kubxrnxtes":                 {"k8s"}, // two errors in ten letters
		"kubernetes clustre":         {"k8s"},
		"postgersql planer":          {"pg"},
		"уязвимсть":                  {"ru"},
		"planer":                     {"pg", "en"},
		"planer lang:en":             {"en"},
		"planer -postgresql":         {"en"},
		"planer OR kuberntes":        {"pg", "en", "k8s"},
		"kxbxrxetes":                 nil, // three errors
		"clxstxr":                    nil, // two errors in seven letters
		"thx":                        nil, // too short
		`"kuberntes cluster"`:        nil,
		"kuberntz*":                  nil,
		"kuberntes clus*":            {"k8s"}, // incomplete input
		"kuberntes clustre contai*":  {"k8s"},
		"kuberntes runnin*":          nil,
		"kuberntes clsu*":            nil,
		"kubernetes clsu*":           nil,
		"title:planer title:postg*":  {"pg"},
		"title:planer title:plan*":   {"pg", "en"},
		"planer -postg*":             {"en"},
		"kuberntes schedulin*":       {"k8s"}, // its stem is shorter
		"planer postgresql2":         nil,
		"title:planer -title:basics": {"pg"},
	} {
		results := search(t, x, parsed(t, text))
		got := ids(results)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || results.Fuzzy != (len(want) > 0) {
			t.Errorf("%q found %v, forgiven %t; want %v", text, got, results.Fuzzy, want)
		}
	}
	wantFound(t, x, parsed(t, "planner"), "pg", "en")
	if results := search(t, x, parsed(t, "planner")); results.Fuzzy {
		t.Error("a query without typos is Fuzzy")
	}
}

func typosDoNotMatchIfFound(t *testing.T, x storage.Index) {
	put(t, x, item("form", "Formation", ""), item("foam", "Formatoin", ""))
	wantFound(t, x, parsed(t, "formation"), "form")
	wantFound(t, x, parsed(t, "formatoin"), "foam")
}

func pagesOfFuzzySearch(t *testing.T, x storage.Index) {
	var items []storage.IndexItem
	for n := range 11 {
		items = append(items, item(fmt.Sprint("id-", n), "Kubernetes "+strings.Repeat("pods ", n%3), ""))
	}
	put(t, x, items...)
	for _, newest := range []bool{false, true} {
		q := parsed(t, "kuberntes")
		q.Limit, q.Newest, q.Facets = 3, newest, true
		var got []string
		for page := 0; page == 0 || q.Cursor != ""; page++ {
			results := search(t, x, q)
			if !results.Fuzzy || results.Total != 11 || results.Facets["feed"][0].Count != 11 {
				t.Fatalf("page %d: %+v, want it forgiven, and 11 in all", page, results)
			}
			got, q.Cursor = append(got, ids(results)...), results.Next
			if page > 11 {
				t.Fatal("the pages do not end")
			}
		}
		wantEachOnce(t, got, items)
	}
}

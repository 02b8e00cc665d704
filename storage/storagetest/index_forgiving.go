package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"feedmesh/storage"
)

func mistakesForgiven(t *testing.T, x storage.Index) {
	put(t, x, item("k8s", "Kubernetes cluster", "scheduling of containers"), item("pg", "PostgreSQL and the planner", ""), item("ru", "Уязвимость планировщика", ""),
		changed(item("en", "Planner basics", ""), func(it *storage.Indexed) { it.Language = "en" }))
	for text, want := range map[string][]string{
		"kuberntes":                  {"k8s"},
		"kuberentes":                 {"k8s"}, // swapped
		"kubxrnxtes":                 {"k8s"}, // two of ten
		"kubernetes clustre":         {"k8s"},
		"postgersql planer":          {"pg"},
		"уязвимсть":                  {"ru"},
		"planer":                     {"pg", "en"},
		"planer lang:en":             {"en"},
		"planer -postgresql":         {"en"},
		"planer OR kuberntes":        {"pg", "en", "k8s"},
		"kxbxrxetes":                 nil, // three
		"clxstxr":                    nil, // two of seven
		"thx":                        nil, // too short
		`"kuberntes cluster"`:        nil,
		"kuberntz*":                  nil,
		"kuberntes clus*":            {"k8s"}, // as while typing
		"kuberntes clustre contai*":  {"k8s"},
		"kuberntes runnin*":          nil,
		"kuberntes clsu*":            nil,
		"kubernetes clsu*":           nil,
		"title:planer title:postg*":  {"pg"},
		"title:planer title:plan*":   {"pg", "en"},
		"planer -postg*":             {"en"},
		"kuberntes schedulin*":       {"k8s"}, // whose stem is shorter
		"planer postgresql2":         nil,
		"title:planer -title:basics": {"pg"},
	} {
		results := search(t, x, parsed(t, text))
		got := ids(results)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || results.Forgiven != (len(want) > 0) {
			t.Errorf("%q found %v, forgiven %t; want %v", text, got, results.Forgiven, want)
		}
	}
	wantFound(t, x, parsed(t, "planner"), "pg", "en")
	if results := search(t, x, parsed(t, "planner")); results.Forgiven {
		t.Error("what needs nothing forgiven is Forgiven")
	}
}

func nothingForgivenIfFound(t *testing.T, x storage.Index) {
	put(t, x, item("form", "Formation", ""), item("foam", "Formatoin", ""))
	wantFound(t, x, parsed(t, "formation"), "form")
	wantFound(t, x, parsed(t, "formatoin"), "foam")
}

func pagesOfForgiven(t *testing.T, x storage.Index) {
	var items []storage.Indexed
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
			if !results.Forgiven || results.Total != 11 || results.Facets["feed"][0].Count != 11 {
				t.Fatalf("page %d: %+v, want it forgiven, and 11 in all", page, results)
			}
			got, q.Cursor = append(got, ids(results)...), results.Next
			if page > 11 {
				t.Fatal("the pages do not end")
			}
		}
		wantOnce(t, got, items)
	}
}

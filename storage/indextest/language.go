package indextest

import (
	"fmt"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// wantTyped fails unless the typed query matches exactly these items.
func wantTyped(t *testing.T, x storage.Index, found map[string][]string) {
	t.Helper()
	for text, want := range found {
		wantFound(t, x, parsed(t, text), want...)
	}
}

func putBoats(t *testing.T, x storage.Index) {
	by := func(id, author, title, text string, tags ...string) storage.IndexItem {
		return changed(item(id, title, text), func(it *storage.IndexItem) { it.Author, it.Tags = author, tags })
	}
	put(t, x,
		by("red", "Ada Lovelace", "Red boats", "They sail slowly", "water travel"),
		by("blue", "Grace Hopper", "Blue boats", "Not red at all", "water", "travel"),
		by("car", "Ada Hopper", "A red car", "It drives"),
		by("none", "", "", ""))
}

func orAndNot(t *testing.T, x storage.Index) {
	putBoats(t, x)
	wantTyped(t, x, map[string][]string{
		"boats OR car":             {"red", "blue", "car"},
		"slowly OR drives":         {"red", "car"},
		"slowly | nothing":         {"red"},
		"red boat OR drives":       {"red", "blue", "car"},
		"red (slowly OR drives)":   {"red", "car"},
		"red -boats":               {"car"},
		"-red":                     {"none"},
		"-red -car":                {"none"},
		"-boats":                   {"car", "none"},
		"boats -(slowly OR not)":   nil,
		"-(red car)":               {"red", "blue", "none"},
		"-(-red)":                  {"red", "blue", "car"},
		"nothing OR never":         nil,
		"nothing OR -boats":        {"car", "none"},
		"(red car) OR (blue boat)": {"car", "blue"},
		"red ... -- car":           {"car"},
		"boats -...":               {"red", "blue"},
	})
}

func phrasesInARow(t *testing.T, x storage.Index) {
	put(t, x,
		item("to be", "To be or not to be", ""), item("not", "", "Be or to not"), item("apart", "To be", "or not to be"),
		changed(item("tags", "", ""), func(it *storage.IndexItem) { it.Tags = []string{"machine learning", "red boat"} }),
		item("learns", "The machine that learns", "Learning of machines by a machine"),
		item("ru", "Базы данных", "данных базы"))
	wantTyped(t, x, map[string][]string{
		`"to be or not to be"`:             {"to be"},
		`"be or to"`:                       {"not"},
		`"not to be"`:                      {"to be", "apart"},
		`"be or"`:                          {"to be", "not"},
		`to be "or not" -"not to"`:         nil,
		`"machine learning"`:               {"tags"},
		`"learning of machine"`:            {"learns"},
		`"machines that learn"`:            {"learns"},
		`"learning red"`:                   nil, // other tags
		`"базами данных"`:                  {"ru"},
		`"To be, or NOT to be!"`:           {"to be"},
		`"machine learning" OR "be or to"`: {"tags", "not"},
		`-"to be" -"be or" learning`:       {"tags", "learns"},
		`title:"to be"`:                    {"to be", "apart"},
		`title:"not to be"`:                {"to be"},
		`title:"or not to" "to be"`:        {"to be"},
		`"red"`:                            {"tags"},
	})
}

func prefixesMatch(t *testing.T, x storage.Index) {
	put(t, x, item("db", "Databases migrate", "PostgreSQL"), item("data", "Data", ""), item("ru", "Базы данных", ""),
		item("c", "Modern C++20 code", ""), changed(item("author", "", ""), func(it *storage.IndexItem) { it.Author = "Datta Singh" }))
	wantTyped(t, x, map[string][]string{
		"dat*":              {"db", "data", "author"},
		"datab*":            {"db"},
		"database*":         {"db"}, // longer than its stem
		"databases*":        {"db"},
		"DATAB*":            {"db"},
		"migrat* post*":     {"db"},
		"postgresql datab*": {"db"},
		"data* -datab*":     {"data"},
		"missing datab*":    nil,
		"datab* OR baz":     {"db"},
		"title:dat*":        {"db", "data"},
		"author:dat*":       {"author"},
		"author:datab*":     nil,
		"баз*":              {"ru"},
		"да*":               {"ru"},
		"базы*":             {"ru"},
		"moder* code":       {"c"},
		"x*":                nil,
	})
	wantFound(t, x, storage.Query{Where: query.Text{Form: query.Prefix, Words: "migrates datab"}}, "db")
	wantFound(t, x, storage.Query{Where: query.Text{Form: query.Prefix, Words: "datab migrates"}})
}

func prefixesLongerThanStems(t *testing.T, x storage.Index) {
	put(t, x, item("run", "It runs", "fast"), item("runner", "Runners", ""), item("stop", "", "They stopped"))
	wantTyped(t, x, map[string][]string{
		"runni*":        {"run"},
		"runnin*":       {"run"},
		"fast runnin*":  {"run"},
		"title:runnin*": {"run"},
		"stoppe*":       {"stop"},
		"title:stoppe*": nil,
		"-runnin*":      {"runner", "stop"},
		"stoppa*":       nil,
	})
}

func fieldsAreSeparate(t *testing.T, x storage.Index) {
	putBoats(t, x)
	wantTyped(t, x, map[string][]string{
		"title:red":                               {"red", "car"},
		"title:red title:boats":                   {"red"},
		"title:red slowly":                        {"red"},
		"title:slowly":                            nil,
		"author:ada":                              {"red", "car"},
		"author:ada author:hopper":                {"car"},
		`author:"ada hopper"`:                     {"car"},
		`author:"grace ada"`:                      nil,
		"author:hopper -title:car":                {"blue"},
		"red -title:red":                          {"blue"},
		"author:red":                              nil,
		"title:ada":                               nil,
		"title:water":                             nil,
		"title:blue OR author:ada":                {"blue", "red", "car"},
		"(title:red OR title:blue) author:hopper": {"car", "blue"},
	})
}

func valuesCombine(t *testing.T, x storage.Index) {
	of := func(id, feed, category, topic, language, story string, flags ...string) storage.IndexItem {
		return changed(item(id, "word", ""), func(it *storage.IndexItem) {
			it.FeedID, it.Language, it.StoryID, it.Flags = feed, language, story, flags
			it.Categories, it.Topics = []string{category, "all"}, []string{topic}
		})
	}
	put(t, x, of("a", "f1", "ai", "go", "en", "s1", "starred"), of("b", "f2", "ai", "sql & more", "ru", "s1"),
		of("c", "f2", "db", `a "b" \`, "ru", "s2", "sponsored", "starred"), of("d", "f3", "db", "go", "", ""))
	wantTyped(t, x, map[string][]string{
		"cat:ai":                                {"a", "b"},
		"word cat:ai -lang:ru":                  {"a"},
		"cat:ai OR feed:f3":                     {"a", "b", "d"},
		"word (cat:db OR lang:en)":              {"a", "c", "d"},
		"-cat:ai":                               {"c", "d"},
		"-(cat:ai OR feed:f2)":                  {"d"},
		"-(cat:ai lang:ru)":                     {"a", "c", "d"},
		`topic:"sql & more"`:                    {"b"},
		`topic:"a \"b\" \\"`:                    {"c"},
		"topic:go":                              {"a", "d"},
		"story:s1":                              {"a", "b"},
		"story:s1 -lang:en":                     {"b"},
		"story:missing":                         nil,
		"is:starred":                            {"a", "c"},
		"is:starred is:sponsored":               {"c"},
		"-is:starred":                           {"b", "d"},
		"(is:starred cat:ai) OR (feed:f3 word)": {"a", "d"},
		`feed:"f1\" OR feed = \"f2"`:            nil,
		"lang:en OR nothing":                    {"a"},
		"nothing OR (word -(-cat:db))":          {"c", "d"},
	})
}

func hostsAndBelow(t *testing.T, x storage.Index) {
	at := func(id, url string) storage.IndexItem {
		return changed(item(id, "word", ""), func(it *storage.IndexItem) { it.URL = url })
	}
	put(t, x, at("www", "https://www.Example.org/a?b#c"), at("blog", "http://deep.blog.example.org:8080/"), at("like", "https://notexample.org/"),
		at("path", "https://other.net/example.org"), at("local", "http://localhost/"), at("none", ""), at("odd", "http://[::1]:80/%zz"))
	wantTyped(t, x, map[string][]string{
		"host:example.org":              {"www", "blog"},
		"host:www.EXAMPLE.org":          {"www", "blog"},
		"host:blog.example.org":         {"blog"},
		"host:https://example.org/path": {"www", "blog"},
		"host:other.net":                {"path"},
		"host:localhost":                {"local"},
		"host:org":                      nil,
		"word -host:example.org":        {"like", "path", "local", "none", "odd"},
	})
}

func timesCombine(t *testing.T, x storage.Index) {
	for n := range 5 {
		put(t, x, changed(item(fmt.Sprint(n), "word", ""), func(it *storage.IndexItem) { it.Published = noon.AddDate(0, 0, -n) }))
	}
	wantTyped(t, x, map[string][]string{
		"after:2026-02-27":                           {"0", "1", "2"},
		"before:2026-02-27":                          {"3", "4"},
		"after:2026-02-26 before:2026-02-28":         {"2", "3"},
		"-after:2026-02-26":                          {"4"},
		"before:2026-02-26 OR after:2026-03-01":      {"0", "4"},
		"word -(after:2026-02-26 before:2026-02-28)": {"0", "1", "4"},
		"age:<2d":                    {"0", "1", "2"},
		"age:>2d":                    {"3", "4"},
		"word after:-1d":             {"0", "1"},
		"after:2026-02-28T12:00:00Z": {"0", "1"},
		"before:2026-02-28T15:00:00+03:00 after:2026-02-26 -x": {"2", "3"},
		"after:2027": nil,
	})
}

func requestedByFlag(t *testing.T, x storage.Index) {
	put(t, x, item("ham", "word", ""),
		changed(item("again", "word", ""), func(it *storage.IndexItem) { it.DuplicateOf = "ham" }),
		changed(item("spam", "word", ""), func(it *storage.IndexItem) { it.Spam = true }),
		changed(item("muted", "word", ""), func(it *storage.IndexItem) { it.Flags = []string{storage.FlagMuted} }))
	wantTyped(t, x, map[string][]string{
		"word":                            {"ham"},
		"is:duplicate":                    {"again"},
		"word is:duplicate":               {"again"},
		"word (is:duplicate OR word)":     {"ham", "again"},
		"is:spam":                         {"spam"},
		"is:spam OR is:duplicate":         {"spam", "again"},
		"is:muted OR word":                {"ham", "muted"},
		"-is:duplicate":                   {"ham"},
		"-is:spam":                        {"ham"},
		"word -is:muted -is:spam":         {"ham"},
		"is:duplicate -is:duplicate":      nil,
		"is:spam OR is:muted OR -nothing": {"ham", "spam", "muted"},
	})
	wantFound(t, x, storage.Query{Where: is(query.Flag, storage.FlagDuplicate), Spam: true})
}

func denseScripts(t *testing.T, x storage.Index) {
	put(t, x, item("zh", "如何选择数据库", "性能很好"), item("zh2", "大数据与库存", ""), item("ja", "日本語のニュース", ""), item("ko", "한국어를 배우다", "데이터베이스"),
		item("mixed", "Go语言 rocks", ""))
	wantTyped(t, x, map[string][]string{
		"数据库":            {"zh"},
		"数据":             {"zh", "zh2"},
		`"选择数据库"`:        {"zh"},
		`"选择 数据库"`:       nil,
		"数":              {"zh", "zh2"},
		"库":              {"zh", "zh2"}, // even as the last character of a text
		"存":              {"zh2"},
		"性能 数据库":         {"zh"},
		"日本語":            {"ja"},
		"ニュース":           {"ja"},
		"日本":             {"ja"},
		"한국어":            {"ko"},
		"배우":             {"ko"},
		"데이터":            {"ko"},
		"语言":             {"mixed"},
		"go 语言":          {"mixed"},
		"数据库*":           {"zh"},
		"中文":             nil,
		`"语言 rocks"`:     {"mixed"}, // the text has 言 between them
		`"go 语言 rocks"`:  {"mixed"},
		`"go 语 rocks"`:   nil,
		`"语言 go"`:        nil,
		`-"语言 rocks" go`: nil,
	})
}

func otherLanguages(t *testing.T, x storage.Index) {
	put(t, x, item("de", "Die Häuser und die Bücher", "Datenbanken in Zürich"), item("fr", "Le vol de l'avion", "Développer des voitures"),
		item("es", "Las canciones de los niños", "españoles"))
	wantTyped(t, x, map[string][]string{
		"Haus":                  {"de"},
		"buch haus":             {"de"},
		"Datenbank":             {"de"},
		"zurich":                {"de"},
		`"die Buch"`:            {"de"},
		"avions":                {"fr"},
		"l’avion":               {"fr"},
		"voiture développement": {"fr"},
		"canción":               {"es"},
		"niño":                  {"es"},
		"ninos espanol":         {"es"},
	})
}

func daysAreCounted(t *testing.T, x storage.Index) {
	for n := range storage.MaxDays + 4 {
		for round := range n%2 + 1 {
			put(t, x, changed(item(fmt.Sprint(n, "-", round), "word", ""), func(it *storage.IndexItem) {
				it.Published = noon.AddDate(0, 0, -n).In(time.FixedZone("there", -13*60*60))
			}))
		}
	}
	days := search(t, x, storage.Query{Where: wordsOf("word"), Facets: true}).Facets["day"]
	if len(days) != storage.MaxDays {
		t.Fatalf("%d days are counted, want the latest %d", len(days), storage.MaxDays)
	}
	for n, day := range days {
		want := storage.FacetCount{Value: noon.AddDate(0, 0, -n).Format(time.DateOnly), Count: int64(n%2 + 1)}
		if day != want {
			t.Errorf("day %d is %v, want %v", n, day, want)
		}
	}
	some := search(t, x, storage.Query{Where: query.TimeRange{From: noon.AddDate(0, 0, -1)}, Facets: true}).Facets["day"]
	if len(some) != 2 || some[0].Value != "2026-03-01" || some[1] != (storage.FacetCount{Value: "2026-02-28", Count: 2}) {
		t.Errorf("the days of two days are %v", some)
	}
}

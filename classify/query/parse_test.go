package query

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func days(n int) time.Time { return noon.AddDate(0, 0, -n) }

func TestParse_ReturnsTree(t *testing.T) {
	t.Parallel()
	w := func(words string) Node { return Text{Words: words} }
	for text, want := range map[string]Node{
		"":                                nil,
		" \t\n":                           nil,
		"go release":                      w("go release"),
		`"be or not"`:                     Text{Form: Phrase, Words: "be or not"},
		`go "be or not" now`:              And{w("go"), Text{Form: Phrase, Words: "be or not"}, w("now")},
		`"a \"b\" \\"`:                    Text{Form: Phrase, Words: `a "b" \`},
		"-go":                             Not{Node: w("go")},
		"go -rust":                        And{w("go"), Not{Node: w("rust")}},
		`-"be or" -lang:en`:               And{Not{Node: Text{Form: Phrase, Words: "be or"}}, Not{Node: FieldEquals{Language, "en"}}},
		"-(a b)":                          Not{Node: w("a b")},
		"-(-a)":                           Not{Node: Not{Node: w("a")}},
		"a OR b":                          Or{w("a"), w("b")},
		"a b | c OR d":                    Or{w("a b"), w("c"), w("d")},
		"a or b":                          w("a or b"),
		"a AND b":                         w("a b"),
		"AND a":                           w("and a"),
		"ORacle":                          w("ORacle"),
		"(a OR b) c":                      And{Or{w("a"), w("b")}, w("c")},
		"(a b) (c)":                       w("a b c"),
		"(a OR b)OR c":                    Or{w("a"), w("b"), w("c")},
		"(a OR b)c":                       And{Or{w("a"), w("b")}, w("c")},
		"datab*":                          Text{Form: Prefix, Words: "datab"},
		"big datab* now":                  And{Text{Form: Prefix, Words: "big datab"}, w("now")},
		"title:go":                        Text{In: Title, Words: "go"},
		"TITLE:go":                        Text{In: Title, Words: "go"},
		"title:go title:1.26 more":        And{Text{In: Title, Words: "go 1.26"}, w("more")},
		`author:"Ada L"`:                  Text{In: Author, Form: Phrase, Words: "Ada L"},
		"title:datab*":                    Text{In: Title, Form: Prefix, Words: "datab"},
		"feed:abc cat:ai":                 And{FieldEquals{Feed, "abc"}, FieldEquals{Category, "ai"}},
		`topic:"sql & more"`:              FieldEquals{Topic, "sql & more"},
		"lang:EN":                         FieldEquals{Language, "en"},
		"host:www.Example.org":            FieldEquals{Host, "example.org"},
		"host:https://a.org:80/b?c":       FieldEquals{Host, "a.org"},
		"story:x is:DUPLICATE":            And{FieldEquals{Story, "x"}, FieldEquals{Flag, "duplicate"}},
		"after:2026-03-01":                TimeRange{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		"before:2026":                     TimeRange{Until: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		"before:2026-02":                  TimeRange{Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)},
		"after:2026-03-01T15:00:00+03:00": TimeRange{From: noon},
		"after:-2d":                       TimeRange{From: days(2)},
		"age:<2d":                         TimeRange{From: days(2)},
		"age:2w":                          TimeRange{From: days(14)},
		"age:>36h":                        TimeRange{Until: noon.Add(-36 * time.Hour)},
		"age:<=1m":                        TimeRange{From: noon.AddDate(0, -1, 0)},
		"age:>1y":                         TimeRange{Until: noon.AddDate(-1, 0, 0)},
		"c++ C# node.js":                  w("c++ C# node.js"),
		`category:"a b"`:                  FieldEquals{Category, "a b"},
		"12:30 foo:bar std::sort":         w("12:30 foo:bar std::sort"),
		"https://example.org/a?b=c":       w("https://example.org/a?b=c"),
		"rust - go":                       w("rust go"),
		"a & b":                           w("a b"),
		"...":                             w("."),
		"-... a":                          And{Not{Node: w(".")}, w("a")},
		`""`:                              Text{Form: Phrase, Words: "."},
		"lang:en —":                       FieldEquals{Language, "en"},
		"--force":                         w("force"),
		"f(x) main()":                     w("f,x main"),
		"(f(x) OR b)":                     Or{w("f,x"), w("b")},
		"a) b":                            w("a b"),
		"库":                               Text{Form: Prefix, Words: "库"},
		"*title:x":                        w("title,x"),
		"Author of it":                    w("Author of it"),
		"10:5 at:home":                    w("10:5 at:home"),
	} {
		got, err := Parse(text, noon)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v, %v; want %#v", text, got, err, want)
			continue
		}
		wantAgain(t, got)
	}
}

// wantAgain fails unless the printed tree parses to the same tree.
func wantAgain(t *testing.T, n Node) {
	t.Helper()
	if n == nil {
		return
	}
	text := n.String()
	if len(text) > MaxBytes {
		return // times are printed longer than typed
	}
	if reparsed, err := Parse(text, noon); err != nil || !reflect.DeepEqual(reparsed, n) {
		t.Errorf("%#v is printed as %q, which is %#v, %v", n, text, reparsed, err)
	}
}

func TestParse_ErrorsHaveOffsetAndRemedy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		pos     int
		message string
	}{
		`go "be or`:                    {3, `add "`},
		"go (a OR b":                   {3, "add )"},
		"go () b":                      {3, "these parentheses are empty"},
		"a OR":                         {2, "OR joins two conditions"},
		"OR a":                         {0, "OR joins two conditions"},
		"a OR OR b":                    {5, "OR joins two conditions"},
		"(a OR ) b":                    {3, "OR joins two conditions"},
		"go titel:x":                   {3, "write title:"},
		"categories:ai":                {0, "write cat:"},
		"source:x":                     {0, "write feed:"},
		"topics:x":                     {0, "write topic:"},
		"go title: rust":               {9, "no value"},
		"cat:":                         {4, "no value"},
		`title:(a b)`:                  {6, "not a group"},
		`cat:"ai`:                      {4, `add "`},
		"ю is:seen":                    {6, "one of adult"},
		"lang:english":                 {5, "takes a two-letter code, such as lang:en"},
		"host:...":                     {5, "takes a host name, such as host:example.org"},
		"after:tomorrow":               {6, "2026-03-01"},
		"before:2026-13-01":            {7, "before:2026"},
		"age:2":                        {4, "age:<2d"},
		"age:<99999d":                  {4, "age:<2d"},
		"age:<9999y":                   {4, "age:<2d"},
		"after:0001-01-01":             {6, "after:"},
		strings.Repeat("(", 9) + "a":   {8, "at most 8 deep"},
		strings.Repeat("x", 1001):      {1000, "1001"},
		strings.Repeat("-a ", 65):      {64 * 3, "at most 64"},
		"-" + strings.Repeat("(", 1e2): {9, "at most 8 deep"},
	} {
		n, err := Parse(text, noon)
		var fault *SyntaxError
		if !errors.As(err, &fault) || fault.Offset != want.pos || !strings.Contains(fault.Message, want.message) {
			t.Errorf("%.40q: got %v, %#v, want a syntax error at %d that contains %q", text, n, fault, want.pos, want.message)
		}
	}
}

func TestParse_ConsecutiveWordsAreOneCondition(t *testing.T) {
	t.Parallel()
	words := strings.TrimSpace(strings.Repeat("word ", 200))
	if got, err := Parse(words, noon); err != nil || !reflect.DeepEqual(got, Text{Words: words}) {
		t.Errorf("got %v, %v for 200 words, want them", got, err)
	}
}

func TestParseScope_RejectsFieldsOfRules(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "kube* \"helm chart\" -title:jobs author:x", "feed:f lang:en (host:a.org OR host:b.org)", "after:2026-03-01 before:2026-04", "age", `"cat:x"`} {
		want, _ := Parse(text, noon)
		if got, err := ParseScope(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v, %v; want %#v", text, got, err, want)
		}
	}
	for text, want := range map[string]SyntaxError{
		"a cat:jobs":        {Offset: 2, Message: "cat: is not available before rules run"},
		"-TOPIC:go":         {Offset: 1, Message: "topic: is not available before rules run"},
		"a OR (b story:x)":  {Offset: 8, Message: "story: is not available before rules run"},
		"is:spam":           {Offset: 0, Message: "is: is not available before rules run"},
		"age:>1w":           {Offset: 0, Message: "age: changes with time, and scopes must not"},
		"a before:-1y":      {Offset: 2, Message: "before:-1y changes with time, and scopes must not"},
		"lang:xyzt cat:a":   {Offset: 5, Message: "lang: takes"},
		"after:2026 (lang:": {Offset: 17, Message: "lang: has no value"},
	} {
		var fault *SyntaxError
		if _, err := ParseScope(text); !errors.As(err, &fault) || fault.Offset != want.Offset || !strings.HasPrefix(fault.Message, want.Message) {
			t.Errorf("%q: got %#v, want %#v", text, err, want)
		}
	}
}

func TestParsePartial_AcceptsIncompleteQueries(t *testing.T) {
	t.Parallel()
	prefix := func(words string) Node { return Text{Form: Prefix, Words: words} }
	for text, want := range map[string]Node{
		"":            nil,
		"big datab":   prefix("big datab"),
		"big datab ":  Text{Words: "big datab"},
		"a OR":        prefix("a"),
		"a OR ":       Text{Words: "a"},
		"a -":         prefix("a"),
		"(a OR b":     Or{Text{Words: "a"}, prefix("b")},
		`a "be or`:    And{Text{Words: "a"}, Text{Form: Phrase, Words: "be or"}},
		`a "`:         prefix("a"),
		"a title:":    prefix("a"),
		"a title:b":   And{Text{Words: "a"}, Text{In: Title, Form: Prefix, Words: "b"}},
		"a -b":        And{Text{Words: "a"}, Not{Node: Text{Words: "b"}}},
		"a lang:":     prefix("a"),
		"lang:en":     FieldEquals{Language, "en"},
		"...":         Text{Words: "."},
		"title:":      nil,
		"(":           nil,
		`"`:           nil,
		"a (b OR (c ": And{Text{Words: "a"}, Or{Text{Words: "b"}, Text{Words: "c"}}},
	} {
		got, err := ParsePartial(text, noon)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v, %v; want %#v", text, got, err, want)
		}
	}
	for _, text := range []string{"is:x a", "lang:english", "titel:x"} {
		var fault *SyntaxError
		if _, err := ParsePartial(text, noon); !errors.As(err, &fault) {
			t.Errorf("%q: got %v, want a fault", text, err)
		}
	}
}

func FuzzParse_RestoresPrintedQuery(f *testing.F) {
	for _, text := range []string{
		`go "be or not" -(a OR b) title:x* author:"y z" is:muted`, "after:-2d before:2026 age:>1w", `topic:"a \" \\" host:a.b`, "a) (b OR (c d)) -e",
		"c++ f(x) 12:30 *title:y --z AND OR", "库 数据库* 한국어", "\xff\x00 é \u00ad", "x|y | z", "-(-(-a))", "titel:x", `""-""`,
	} {
		f.Add(text)
	}
	doc := &Document{Title: "a b c", Text: "be or not", URL: "https://a.b/", Published: noon}
	f.Fuzz(func(t *testing.T, text string) {
		typing, err := ParsePartial(text, noon)
		if err == nil {
			Matches(typing, doc)
		}
		n, err := Parse(text, noon)
		if err != nil {
			var fault *SyntaxError
			if !errors.As(err, &fault) || fault.Offset < 0 || fault.Offset > len(text) || fault.Message == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		wantAgain(t, n)
		if Matches(n, doc) && !MatchesFuzzy(n, doc) {
			t.Fatalf("%q matches, but not nearly", text)
		}
		if Matches(n, doc) == (n != nil && Matches(Not{Node: n}, doc)) {
			t.Fatalf("%q and its opposite match", text)
		}
	})
}

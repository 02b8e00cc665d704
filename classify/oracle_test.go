package classify

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/expression"
	"feedmesh/classify/query"
	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// A naive evaluator walks the tree of every rule for every document, and searches the texts again for every
// term.
type naive struct {
	set  *rule.Set
	doc  Document
	held map[int]bool
}

// texts returns the texts of a field, split into words.
func (n *naive) texts(f rule.Field) []string {
	d := n.doc
	return map[rule.Field][]string{
		rule.Title: {d.Title}, rule.Tags: d.Tags, rule.Body: {d.Text}, rule.FeedTitle: {d.FeedTitle}, rule.FeedTags: d.FeedTags,
		rule.Author: {d.Author}, rule.URL: {d.URL}, rule.Host: {n.host()}, rule.Lang: {d.Language},
	}[f]
}

func (n *naive) host() string {
	u, err := url.Parse(n.doc.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

func fieldsOf(t *rule.Term) []rule.Field {
	if t.Field == rule.Anywhere {
		return []rule.Field{rule.Title, rule.Tags, rule.Body, rule.FeedTitle}
	}
	return []rule.Field{t.Field}
}

// in returns the fields in which a term occurs.
func (n *naive) in(t *rule.Term) (list []rule.Field) {
	for _, f := range fieldsOf(t) {
		for _, text := range n.texts(f) {
			if n.occurs(t, f, text) {
				list = append(list, f)
				break
			}
		}
	}
	return list
}

func (n *naive) occurs(t *rule.Term, f rule.Field, text string) bool {
	switch t.Kind {
	case rule.Value:
		return strings.EqualFold(text, t.Text) || f == rule.Host && strings.HasSuffix(text, "."+t.Text)
	case rule.Regexp:
		return text != "" && regexp.MustCompile(t.Text).MatchString(strings.ToLower(text))
	}
	return len(n.spans(t, f, text)) > 0
}

// spans returns the positions of the first and the last word of each occurrence of a term.
func (n *naive) spans(t *rule.Term, f rule.Field, text string) (list [][2]int) {
	if f == rule.URL {
		text = regexp.MustCompile(`[:/?&=_@%-]`).ReplaceAllString(text, " ")
	}
	words, want := stem.Words(text, n.doc.Language), stem.Words(t.Text, n.doc.Language)
	var places [][2]int
	for i := range words {
		switch t.Kind {
		case rule.Prefix:
			if strings.HasPrefix(words[i].Stem, strings.ToLower(t.Text)) || len(want) == 1 && want[0].Stem == words[i].Stem {
				places = append(places, [2]int{words[i].Pos, words[i].Pos})
			}
		case rule.Loose:
			if n.inWindow(words, want, words[i].Pos) {
				places = append(places, [2]int{words[i].Pos, words[i].Pos})
			}
		default:
			j := 0
			for j < len(want) && i+j < len(words) && words[i+j].Stem == want[j].Stem {
				j++
			}
			if j == len(want) && j > 0 {
				places = append(places, [2]int{words[i].Pos, words[i+j-1].Pos})
			}
		}
	}
	if t.Kind != rule.Exact || len(want) > 0 && len(places) == 0 {
		return places
	}
	for i := range text {
		if strings.HasPrefix(text[i:], t.Text) && !part(text, i, t.Text) {
			at := stem.CountWords(text[:i], n.doc.Language)
			list = append(list, [2]int{at, at + max(stem.CountWords(t.Text, n.doc.Language), 1) - 1})
		}
	}
	return list
}

// inWindow reports whether the words from a position on contain all wanted words with at most three others.
func (n *naive) inWindow(words, want []stem.Word, from int) bool {
	if len(want) == 0 {
		return false
	}
	end := from + want[len(want)-1].Pos - want[0].Pos + 1 + 3
	for _, w := range want {
		if !slices.ContainsFunc(words, func(o stem.Word) bool { return o.Stem == w.Stem && o.Pos >= from && o.Pos < end }) {
			return false
		}
	}
	return true
}

// part reports whether the text at i is part of a longer name.
func part(text string, i int, name string) bool {
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	before, after := []rune(text[:i]), []rune(text[i+len(name):])
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	if b := len(before); letter(first) && (b > 0 && letter(before[b-1]) || b > 1 && before[b-1] == '.' && letter(before[b-2])) {
		return true
	}
	a := append(after, ' ', ' ')
	return letter(last) && (letter(a[0]) || a[0] == '+' || a[0] == '#' || a[0] == '.' && letter(a[1]))
}

func (n *naive) holds(e rule.Expr) bool {
	count := func(list []rule.Expr) (k int) {
		for _, e := range list {
			if n.holds(e) {
				k++
			}
		}
		return k
	}
	switch e := e.(type) {
	case rule.Or:
		return count(e) > 0
	case rule.And:
		return count(e) == len(e)
	case rule.AtLeast:
		return count(e.Operands) >= e.N
	case rule.Not:
		return !n.holds(e.Node)
	case rule.Near:
		return n.near(e)
	case *rule.Fact:
		return n.holdsFact(e)
	case *rule.Term:
		return len(n.in(e)) > 0
	}
	panic("what is this?")
}

func sides(e rule.Expr) []*rule.Term {
	if t, ok := e.(*rule.Term); ok {
		return []*rule.Term{t}
	}
	var list []*rule.Term
	for _, e := range e.(rule.Or) {
		list = append(list, e.(*rule.Term))
	}
	return list
}

func (n *naive) near(e rule.Near) bool {
	for _, a := range sides(e.A) {
		for _, b := range sides(e.B) {
			for _, f := range fieldsOf(a) {
				for _, text := range n.texts(f) {
					for _, x := range n.spans(a, f, text) {
						for _, y := range n.spans(b, f, text) {
							if y[0] > x[1] && y[0]-x[1]-1 <= e.Within || x[0] > y[1] && x[0]-y[1]-1 <= e.Within {
								return true
							}
						}
					}
				}
			}
		}
	}
	return false
}

func (n *naive) holdsFact(f *rule.Fact) bool {
	if f.Kind != rule.NamedFact {
		return n.label(f.Kind == rule.Topic, f.Name) >= Threshold
	}
	for i, r := range n.set.Rules {
		if r.Action.Kind == rule.ConcludeFact && r.Action.Name == f.Name && n.fires(i) {
			return true
		}
	}
	return false
}

func (n *naive) label(topic bool, name string) float64 {
	var strong, body float64
	for i, r := range n.set.Rules {
		of := r.Action.Name
		if topic {
			of = r.Action.Topic
		}
		if r.Action.Kind == rule.Conclude && of == name && n.fires(i) {
			s, b := n.points(r)
			strong, body = strong+s, body+b
		}
	}
	return strong + min(body, 3)
}

func (n *naive) fires(i int) bool {
	held, ok := n.held[i]
	if !ok {
		r := n.set.Rules[i]
		held = n.inScope(r.Scope) && n.holds(r.Condition)
		n.held[i] = held
	}
	return held
}

func (n *naive) inScope(s rule.Scope) bool {
	switch s.Kind {
	case rule.Feed:
		return s.Value == n.doc.FeedID
	case rule.FeedTag:
		return slices.ContainsFunc(n.doc.FeedTags, func(tag string) bool { return strings.EqualFold(tag, s.Value) })
	}
	if s.Kind == rule.Query {
		return queries[s.Value](n)
	}
	return true
}

// queries are scopes and their meaning.
var queries = map[string]func(*naive) bool{
	"lang:ru OR lang:fr": func(n *naive) bool { return n.doc.Language == "ru" || n.doc.Language == "fr" },
	"host:go.dev -feed:f1": func(n *naive) bool {
		return (n.host() == "go.dev" || strings.HasSuffix(n.host(), ".go.dev")) && n.doc.FeedID != "f1"
	},
	"rust -title:rust": func(n *naive) bool {
		return !hasWord(`^rust('s)?$`, n.doc.Title) && hasWord(`^rust('s)?$`, append(n.doc.Tags, n.doc.Author, n.doc.Text)...)
	},
	"title:kube*": func(n *naive) bool { return hasWord("^kube", n.doc.Title) },
}

// hasWord reports whether one of the texts contains the word.
func hasWord(like string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.ContainsFunc(query.Words(text), func(w query.Word) bool { return regexp.MustCompile(like).MatchString(w.Text) })
	})
}

var worth = map[rule.Field]float64{rule.Title: 3, rule.Tags: 2, rule.Host: 2, rule.URL: 2, rule.Body: 1, rule.Author: 1, rule.FeedTitle: 1}

func (n *naive) points(r rule.Rule) (strong, body float64) {
	best := make(map[string]rule.Field) // of each word or phrase, whichever form it has
	n.visitPositive(r.Condition, false, func(t *rule.Term) {
		id := fmt.Sprint(t.Kind, t.Text)
		switch t.Kind {
		case rule.Words:
			id = strings.Join(stem.Stems(t.Text, n.doc.Language), " ")
		case rule.Value, rule.Regexp:
			id = t.String()
		}
		for _, f := range n.in(t) {
			if was, ok := best[id]; !ok || worth[f] > worth[was] {
				best[id] = f
			}
		}
	})
	for _, f := range best {
		switch f {
		case rule.Body, rule.Author, rule.FeedTitle:
			body += r.Score * worth[f]
		default:
			strong += r.Score * worth[f]
		}
	}
	if strong == 0 && body == 0 {
		strong = 3 * r.Score
	}
	return strong, body
}

// visitPositive calls visit for each term that is not negated.
func (n *naive) visitPositive(e rule.Expr, denied bool, visit func(*rule.Term)) {
	switch e := e.(type) {
	case *rule.Term:
		if !denied {
			visit(e)
		}
	case rule.Not:
		n.visitPositive(e.Node, !denied, visit)
	default:
		of, _ := expression.Operands(e)
		for _, part := range of {
			n.visitPositive(part, denied, visit)
		}
	}
}

// outcome returns the outcome for a document, without evidence.
func (n *naive) outcome() Outcome {
	var o Outcome
	seen := make(map[labelKey]bool)
	for i, r := range n.set.Rules {
		if !n.fires(i) {
			continue
		}
		f := RuleMatch{Rule: fmt.Sprintf("%s:%d", r.Pos.File, r.Pos.Line)}
		switch r.Action.Kind {
		case rule.Conclude:
			strong, body := n.points(r)
			f.Points = strong + body
			seen[labelKey{false, r.Action.Name}] = r.Action.Name != ""
			seen[labelKey{true, r.Action.Topic}] = r.Action.Topic != ""
		case rule.AddScore:
			f.Points = r.Action.Score
			o.Score += r.Action.Score
		case rule.Notify:
			o.Notify = append(o.Notify, cmp.Or(r.Action.Text, f.Rule))
		}
		o.Star = o.Star || r.Action.Kind == rule.Star
		o.Mute = o.Mute || r.Action.Kind == rule.Mute
		o.Quarantine = o.Quarantine || r.Action.Kind == rule.Quarantine
		o.Matched = append(o.Matched, f)
	}
	for l, named := range seen {
		if named {
			o.Labels = append(o.Labels, Label{Topic: l.topic, Name: l.name, Points: n.label(l.topic, l.name)})
		}
	}
	slices.SortFunc(o.Labels, func(a, b Label) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.Name, b.Name), strings.Compare(fmt.Sprint(a.Topic), fmt.Sprint(b.Topic)))
	})
	return o
}

// A generator generates rules and documents from a few words, so that they often match.
type generator struct{ *rand.Rand }

var vocabulary = strings.Fields(`go Go GO rust Rust game games gaming C C++ C# c node Node.js node.js it IT the of for is kube kubernetes
	security взлом взломали Взлом игра игры chart charts helm v1.2 release released 東京タワー l'art`)

func (g generator) word() string { return vocabulary[g.IntN(len(vocabulary))] }

func (g generator) text(longest int) string {
	var b strings.Builder
	for range g.IntN(longest + 1) {
		b.WriteString(g.word())
		b.WriteString([]string{" ", " ", " ", ", ", ". ", "-", ".", "'s ", " x "}[g.IntN(9)])
	}
	return b.String()
}

func (g generator) document() Document {
	d := Document{
		Title: g.text(12), Text: g.text(80), FeedTitle: g.text(3), Author: g.text(2),
		Language: []string{"", "en", "ru", "fr", "de", "xx"}[g.IntN(6)],
		URL:      []string{"", "https://go.dev/rust-games/v1.2", "http://BLOG.go.dev/it", "::"}[g.IntN(4)],
		FeedID:   []string{"", "f1", "f2"}[g.IntN(3)],
	}
	for range g.IntN(3) {
		d.Tags = append(d.Tags, g.text(3))
		d.FeedTags = append(d.FeedTags, []string{"Jobs", "jobs", "news"}[g.IntN(3)])
	}
	if g.IntN(2) == 0 {
		d.Stems = stem.Words(d.Text, d.Language)
	}
	return d
}

func (g generator) term(words bool) *rule.Term {
	t := &rule.Term{Field: []rule.Field{rule.Anywhere, rule.Anywhere, rule.Title, rule.Tags, rule.Body, rule.FeedTitle, rule.Author, rule.URL}[g.IntN(8)]}
	switch k := g.IntN(12); {
	case k < 5:
		t.Text = g.word()
	case k < 6:
		t.Text = g.word() + " " + g.word()
	case k < 7:
		t.Kind, t.Text = rule.Exact, g.word()
	case k < 8:
		t.Kind, t.Text = rule.Prefix, []string{"g", "ga", "kube", "release", "взл", "игр", "no", "securit"}[g.IntN(8)]
	case words:
		t.Text = g.word()
	case k < 9:
		t.Kind, t.Text = rule.Loose, g.word()+" "+g.word()+[]string{"", " rust"}[g.IntN(2)]
	case k < 10:
		t.Kind, t.Field, t.Text = rule.Regexp, []rule.Field{rule.Title, rule.FeedTitle, rule.URL, rule.Host, rule.Author}[g.IntN(5)], []string{`v\d`, `^go`, `rust|c`, `(взлом)+`}[g.IntN(4)]
	case k < 11:
		t.Kind, t.Field, t.Text = rule.Value, rule.Host, []string{"go.dev", "dev", "blog.go.dev"}[g.IntN(3)]
	default:
		t.Kind, t.Field, t.Text = rule.Value, rule.FeedTags, "JOBS"
		if g.IntN(2) == 0 {
			t.Field, t.Text = rule.Lang, []string{"ru", "fr"}[g.IntN(2)]
		}
	}
	return t
}

// condition generates a tree that depends only on conclusions of lower levels.
func (g generator) condition(depth, level int) rule.Expr {
	if depth == 0 || g.IntN(4) == 0 {
		if level > 0 && g.IntN(4) == 0 {
			return &rule.Fact{Kind: rule.FactKind(g.IntN(3)), Name: fmt.Sprint("n", g.IntN(level))}
		}
		return g.term(false)
	}
	var of []rule.Expr
	for range 2 + g.IntN(6)/4 {
		of = append(of, g.condition(depth-1, level))
	}
	switch g.IntN(6) {
	case 0:
		return rule.And(append(of, rule.Not{Node: g.condition(depth-1, level)}))
	case 1:
		return rule.AtLeast{N: 1 + g.IntN(len(of)), Operands: of}
	case 2:
		a, b := g.term(true), g.term(true)
		b.Field = a.Field
		return rule.Near{A: a, B: b, Within: g.IntN(4)}
	case 3:
		return rule.And(of)
	case 4:
		return rule.Not{Node: rule.Not{Node: rule.Or(of)}}
	}
	return rule.Or(of)
}

func (g generator) rule() rule.Rule {
	level := g.IntN(4)
	name := fmt.Sprint("n", level)
	r := rule.Rule{Score: []float64{0.5, 1, 2}[g.IntN(3)], Condition: g.condition(1+g.IntN(3), level)}
	switch g.IntN(9) {
	case 0, 1, 2:
		r.Action = rule.Action{Kind: rule.ConcludeFact, Name: name}
		r.Score = 1
	case 3, 4:
		r.Action = rule.Action{Kind: rule.Conclude, Name: name}
	case 5:
		r.Action = rule.Action{Kind: rule.Conclude, Name: name, Topic: name}
	case 6:
		r.Action = rule.Action{Kind: rule.AddScore, Score: 1.5}
	default:
		r.Action = rule.Action{Kind: []rule.ActionKind{rule.Star, rule.Mute, rule.Quarantine, rule.Notify}[g.IntN(4)]}
	}
	if r.Action.Kind != rule.Conclude {
		r.Score = 1
	}
	r.Scope = []rule.Scope{{}, {}, {}, {}, {}, {}, {Kind: rule.FeedTag, Value: "Jobs"}, {Kind: rule.Feed, Value: "f1"}, {Kind: rule.Query}}[g.IntN(9)]
	if r.Scope.Kind == rule.Query {
		r.Scope.Value = slices.Sorted(maps.Keys(queries))[g.IntN(len(queries))]
	}
	return r
}

// set returns a set of the valid ones among some rules, with all facts concluded.
func (g generator) set() *rule.Set {
	var b strings.Builder
	for level := range 4 {
		fmt.Fprintf(&b, "fact n%d when nothing%d\n", level, level)
	}
	for range 1 + g.IntN(12) {
		text := rule.Format(g.rule()) + "for all\n"
		if _, err := rule.ParseFiles([]rule.File{{Name: "a.rules", Text: b.String() + text}}); err == nil {
			b.WriteString(text)
		}
	}
	set, err := rule.ParseFiles([]rule.File{{Name: "a.rules", Text: b.String()}})
	if err != nil {
		panic(err)
	}
	return set
}

func TestEvaluate_AgreesWithNaiveEvaluator(t *testing.T) {
	sets, documents := 1500, 10
	if testing.Short() {
		sets = 100
	}
	matches, rules, kinds := 0, 0, make(map[string]int)
	for seed := range uint64(sets) {
		g := generator{rand.New(rand.NewPCG(seed, 6))}
		set := g.set()
		r, err := Compile(set)
		if err != nil {
			t.Fatal(err)
		}
		for range documents {
			d := g.document()
			got, want := r.Evaluate(d), (&naive{set, d, make(map[int]bool)}).outcome()
			for i := range got.Matched {
				if len(got.Matched[i].Evidence) == 0 && !strings.Contains(text(set), "!") {
					t.Errorf("seed %d: a rule holds for no reason", seed)
				}
				got.Matched[i].Evidence = nil
			}
			for i := range got.Labels {
				got.Labels[i].Matches = nil
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: of %+v\ngot  %+v\nwant %+v\n%s", seed, d, got, want, text(set))
			}
			matches += len(got.Matched)
			rules += len(set.Rules)
			for _, f := range got.Matched {
				for _, r := range set.Rules {
					if f.Rule == fmt.Sprintf("a.rules:%d", r.Pos.Line) {
						kinds[r.Scope.Value]++
						kinds[fmt.Sprintf("%T", r.Condition)]++
					}
				}
			}
		}
	}
	t.Logf("%d of %d rules fired: %v", matches, rules, kinds)
	for text := range queries {
		if kinds[text] < sets/100 {
			t.Errorf("got %d of the scope %s fired, want more to compare", kinds[text], text)
		}
	}
	for _, kind := range []string{"expression.And", "expression.AtLeast", "*rule.Fact", "expression.Near", "expression.Or", "*rule.Term"} {
		if kinds[kind] < sets/10 {
			t.Errorf("got %d of %s fired, want more to compare", kinds[kind], kind)
		}
	}
}

func text(set *rule.Set) string {
	var b strings.Builder
	for _, r := range set.Rules {
		fmt.Fprintf(&b, "%d: %s", r.Pos.Line, strings.ReplaceAll(rule.Format(r), "\n", " "))
		b.WriteByte('\n')
	}
	return b.String()
}

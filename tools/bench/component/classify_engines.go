package component

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"feedmesh/classify"
	"feedmesh/classify/expression"
	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// Input and output of the program in tools/bench/rivals, a process of its own.
type (
	rivalTask struct {
		Rules     []rivalCondition
		Documents []map[string][]string // stems and phrases by field
	}
	rivalCondition struct {
		Or, And     []rivalCondition `json:",omitempty"`
		Not         *rivalCondition  `json:",omitempty"`
		Field, Term string           `json:",omitempty"`
	}
	rivalFigures struct {
		Name              string
		Load              time.Duration
		Memory            uint64
		PerItem, P50, P99 time.Duration
		Fired             [][]int
	}
)

var rivalFields = map[rule.Field]string{
	rule.Anywhere: "Any", rule.Title: "Title", rule.Tags: "Tag", rule.Body: "Body", rule.FeedTitle: "Feed", rule.Author: "Author", rule.URL: "URL",
}

// benchOtherEngines measures 300 rules of words, phrases, &, | and ! here and in other engines. The others get the
// stems and phrases of each document as precomputed sets; feedmesh gets its text and the stems of its body.
// All must match the same documents.
func benchOtherEngines(ctx context.Context, documents []classify.Document) error {
	const n = 300
	text, ours := newWriter(documents, false).write(n, shuffled(classify.Shipped().Rules))
	set, l, err := load(text)
	if err != nil {
		return err
	}
	documents = slices.Clone(documents)
	for i := range documents {
		documents[i].Stems = stem.Words(documents[i].Text, documents[i].Language)
	}
	here := rivalFigures{Name: "ours", Load: l.parse + l.compile, Memory: l.memory, Fired: matchesOf(l.Rules, set, documents)}
	t := timeFiring(l.Rules, documents)
	here.PerItem, here.P50, here.P99 = t.Mean, t.P50, t.P99
	others, err := runRivals(ctx, set, documents)
	if err != nil {
		return err
	}
	fmt.Printf("\nthe same %d rules (%d of them shipped) on %d documents\n", n, ours, len(documents))
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "engine\tload\tmemory\tfire each\titems/s\tp50\tp99\ttimes ours\tfired each")
	for _, f := range append([]rivalFigures{here}, others...) {
		matches := 0
		for i := range f.Fired {
			matches += len(f.Fired[i])
			if !slices.Equal(f.Fired[i], here.Fired[i]) {
				return fmt.Errorf("%s matches other rules: %v of document %d, want %v", f.Name, f.Fired[i], i, here.Fired[i])
			}
		}
		fmt.Fprintf(out, "%s\t%.0f ms\t%.1f MB\t%.1f us\t%.0f\t%.0f us\t%.0f us\t%.1f\t%.1f\n", f.Name, f.Load.Seconds()*1e3, float64(f.Memory)/1e6,
			f.PerItem.Seconds()*1e6, 1/f.PerItem.Seconds(), f.P50.Seconds()*1e6, f.P99.Seconds()*1e6,
			f.PerItem.Seconds()/here.PerItem.Seconds(), float64(matches)/float64(len(documents)))
	}
	return out.Flush()
}

// matchesOf returns the indexes of the matching rules, by document.
func matchesOf(rules *classify.Rules, set *rule.Set, documents []classify.Document) [][]int {
	index := make(map[string]int)
	for i, r := range set.Rules {
		index[fmt.Sprintf("%s:%d", r.Pos.File, r.Pos.Line)] = i
	}
	all := make([][]int, len(documents))
	for i, d := range documents {
		for _, f := range rules.Evaluate(d).Matched {
			all[i] = append(all[i], index[f.Rule])
		}
	}
	return all
}

func runRivals(ctx context.Context, set *rule.Set, documents []classify.Document) ([]rivalFigures, error) {
	var task rivalTask
	for _, r := range set.Rules {
		task.Rules = append(task.Rules, translated(r.Condition))
	}
	phrases := phrasesOf(set)
	for _, d := range documents {
		task.Documents = append(task.Documents, fact(d, phrases))
	}
	input, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	rivals := exec.CommandContext(ctx, "go", "run", "./rivals")
	rivals.Env = append(os.Environ(), "GOMAXPROCS=1")
	rivals.Stdin, rivals.Stderr = bytes.NewReader(input), os.Stderr
	output, err := rivals.Output()
	if err != nil {
		return nil, fmt.Errorf("run the other engines: %w", err)
	}
	var figures []rivalFigures
	if err := json.Unmarshal(output, &figures); err != nil {
		return nil, fmt.Errorf("read results of the other engines: %w", err)
	}
	return figures, nil
}

// translated converts a condition of words and phrases for the other engines.
func translated(e rule.Expr) rivalCondition {
	all := func(list []rule.Expr) []rivalCondition {
		out := make([]rivalCondition, len(list))
		for i, e := range list {
			out[i] = translated(e)
		}
		return out
	}
	switch e := e.(type) {
	case rule.Or:
		return rivalCondition{Or: all(e)}
	case rule.And:
		return rivalCondition{And: all(e)}
	case rule.Not:
		c := translated(e.Node)
		return rivalCondition{Not: &c}
	case *rule.Term:
		return rivalCondition{Field: rivalFields[e.Field], Term: strings.Join(stem.Stems(e.Text, "en"), " ")}
	}
	panic(fmt.Sprintf("%T is not for others", e))
}

// phrasesOf returns the stems of the words and phrases of rules.
func phrasesOf(set *rule.Set) map[string]bool {
	phrases := make(map[string]bool)
	for _, r := range set.Rules {
		for e := range expression.Walk(r.Condition) {
			if t, ok := e.(*rule.Term); ok {
				phrases[strings.Join(stem.Stems(t.Text, "en"), " ")] = true
			}
		}
	}
	return phrases
}

// fact returns the stems of each field, and those phrases that rules contain.
func fact(d classify.Document, phrases map[string]bool) map[string][]string {
	f := make(map[string][]string)
	add := func(field, text string) {
		stems := stem.Stems(text, "en")
		for i := range stems {
			phrase := stems[i]
			for j := i + 1; ; j++ {
				if j == i+1 || phrases[phrase] {
					f[field] = append(f[field], phrase)
				}
				if j == len(stems) || j > i+8 {
					break
				}
				phrase += " " + stems[j]
			}
		}
	}
	add("Title", d.Title)
	for _, tag := range d.Tags {
		add("Tag", tag)
	}
	add("Body", d.Text)
	add("Feed", d.FeedTitle)
	add("Author", d.Author)
	f["Any"] = slices.Concat(f["Title"], f["Tag"], f["Body"], f["Feed"])
	return f
}

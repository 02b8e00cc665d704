package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/classify/model"
)

// labelledItems are items about bread and soup, which no rule matches, and one that rules match.
func labelledItems(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	words := map[string][]string{"baking": {"bread", "oven", "dough"}, "stewing": {"soup", "ladle", "broth"}}
	for i := range 600 {
		category := []string{"baking", "stewing"}[i%2]
		w := words[category]
		fmt.Fprintf(&b, `{"id":"%d","title":"%s and %s %d","lang":"en","category":%q}`+"\n", i, w[i%3], w[(i+1)%3], i, category)
	}
	b.WriteString(`{"id":"k","title":"PostgreSQL vacuum explained","lang":"en","category":["databases","devops"],"label":"ham"}` + "\n")
	return write(t, "items.jsonl", b.String())
}

func TestClassifyEval_PrintsRulesThenModel(t *testing.T) {
	items := labelledItems(t)
	s := doWith(t, &program{}, "classify", "eval", items, "--model", "none")
	s.check(t, 0, "rules only: 601 items", "")
	if strings.Contains(s.out, "with the model") || !strings.Contains(s.out, "spam: 0 of 1 items") {
		t.Errorf("got %s", s.out)
	}
	s = doWith(t, &program{}, "classify", "eval", items, "--train")
	s.check(t, 0, "with the model of the train part of", "")
	if _, after, _ := strings.Cut(s.out, "with the model"); !strings.Contains(after, "best category correct for 100.0 % of these") {
		t.Errorf("got %s", s.out)
	}
}

func TestClassifyEval_PrintsJSON(t *testing.T) {
	s := doWith(t, &program{}, "classify", "eval", labelledItems(t), "--part", "test", "--json")
	s.check(t, 0, "", "")
	var got classifyReport
	if err := json.Unmarshal([]byte(s.out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Rules.Items < 100 || got.Rules.Items > 200 || got.Model == nil || got.Model.Items != got.Rules.Items || got.From.Examples == 0 {
		t.Errorf("got %+v", got)
	}
}

func TestClassifyEval_UsesCustomRules(t *testing.T) {
	rules := write(t, "mine.txtar", "-- kitchen.rules --\ncategory baking when bread | oven | dough\ncategory stewing when soup | ladle | broth\n")
	doWith(t, &program{}, "classify", "eval", labelledItems(t), "--rules", rules, "--model", "none").check(t, 0, "coverage 100.0 %; best category correct for 100.0 % of these", "")
	bad := write(t, "bad.txtar", "-- kitchen.rules --\n\ncategory baking when (\n")
	doWith(t, &program{}, "classify", "eval", labelledItems(t), "--rules", bad).check(t, 2, "", "kitchen.rules:2:23: a term is missing")
}

func TestClassifyTrain_WritesModelAndFigures(t *testing.T) {
	folder := t.TempDir()
	out, figures := filepath.Join(folder, "m.gz"), filepath.Join(folder, "m.md")
	doWith(t, &program{}, "classify", "train", labelledItems(t), "-o", out, "--figures", figures).check(t, 0, "items.jsonl: 601 items", "")
	packed, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Decode(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(figures)
	if err != nil || !strings.Contains(string(text), m.Metrics().String()) {
		t.Errorf("got %v, %s, want the figures that are in the model", err, text)
	}
	doWith(t, &program{}, "classify", "eval", labelledItems(t), "--model", out).check(t, 0, "with the model of items.jsonl", "")
}

func TestClassify_ReportsErrors(t *testing.T) {
	items := labelledItems(t)
	few := write(t, "few.jsonl", `{"id":"1","title":"x","category":"a"}`+"\n")
	broken := write(t, "broken.jsonl", `{"id":"1","title":"x","category":"a"}`+"\n{")
	bare := write(t, "bare.jsonl", `{"id":"1","title":"x"}`+"\n")
	for args, want := range map[string]string{
		"eval nope.jsonl":                        "nope.jsonl: no such file",
		"eval " + broken:                         "line 2: unexpected end of JSON input",
		"eval " + bare:                           "has no item with a category or a label",
		"eval " + items + " --part some":         `--part must be one of "train","test","all"`,
		"eval " + items + " --train --part test": "--train measures on the test part",
		"eval " + items + " --train --model x":   "--train and --model cannot be used together",
		"eval " + items + " --model " + few:      "invalid model",
		"eval " + items + " --model nope":        "read model",
		"train " + few + " -o x":                 "too few examples",
		"train " + items:                         "missing flags: --output",
	} {
		doWith(t, &program{}, append([]string{"classify"}, strings.Fields(args)...)...).check(t, 2, "", want)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/classify/model"
	"feedmesh/tools/command/commandtest"
)

func do(t *testing.T, args ...string) commandtest.Result {
	return commandtest.Do(t, new(classifyCommand), args...)
}

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
	return commandtest.Write(t, "items.jsonl", b.String())
}

func TestClassifyEval_PrintsRulesThenModel(t *testing.T) {
	items := labelledItems(t)
	s := do(t, "eval", items, "--model", "none")
	s.Check(t, 0, "rules only: 601 items", "")
	if strings.Contains(s.Out, "with the model") || !strings.Contains(s.Out, "spam: 0 of 1 items") {
		t.Errorf("got %s", s.Out)
	}
	s = do(t, "eval", items, "--train")
	s.Check(t, 0, "with the model of the train part of", "")
	if _, after, _ := strings.Cut(s.Out, "with the model"); !strings.Contains(after, "best category correct for 100.0 % of these") {
		t.Errorf("got %s", s.Out)
	}
}

func TestClassifyEval_PrintsJSON(t *testing.T) {
	s := do(t, "eval", labelledItems(t), "--part", "test", "--json")
	s.Check(t, 0, "", "")
	var got classifyReport
	if err := json.Unmarshal([]byte(s.Out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Rules.Items < 100 || got.Rules.Items > 200 || got.Model == nil || got.Model.Items != got.Rules.Items || got.From.Examples == 0 {
		t.Errorf("got %+v", got)
	}
}

func TestClassifyEval_UsesCustomRules(t *testing.T) {
	rules := commandtest.Write(t, "mine.txtar", "-- kitchen.rules --\ncategory baking when bread | oven | dough\ncategory stewing when soup | ladle | broth\n")
	do(t, "eval", labelledItems(t), "--rules", rules, "--model", "none").Check(t, 0, "coverage 100.0 %; best category correct for 100.0 % of these", "")
	bad := commandtest.Write(t, "bad.txtar", "-- kitchen.rules --\n\ncategory baking when (\n")
	do(t, "eval", labelledItems(t), "--rules", bad).Check(t, 2, "", "kitchen.rules:2:23: a term is missing")
}

func TestClassifyTrain_WritesModelAndFigures(t *testing.T) {
	folder := t.TempDir()
	out, figures := filepath.Join(folder, "m.gz"), filepath.Join(folder, "m.md")
	do(t, "train", labelledItems(t), "-o", out, "--figures", figures).Check(t, 0, "items.jsonl: 601 items", "")
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
	do(t, "eval", labelledItems(t), "--model", out).Check(t, 0, "with the model of items.jsonl", "")
}

func TestClassify_ReportsErrors(t *testing.T) {
	items := labelledItems(t)
	few := commandtest.Write(t, "few.jsonl", `{"id":"1","title":"x","category":"a"}`+"\n")
	broken := commandtest.Write(t, "broken.jsonl", `{"id":"1","title":"x","category":"a"}`+"\n{")
	bare := commandtest.Write(t, "bare.jsonl", `{"id":"1","title":"x"}`+"\n")
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
		do(t, strings.Fields(args)...).Check(t, 2, "", want)
	}
}

package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func TestWorkbenchCommands_OutputAndExitCode(t *testing.T) {
	w := newTestbed(t)
	one, bad := write(t, "one", "category os when kernel\ncategory languages when compiler\ncategory x when never\n"), write(t, "bad", "# what follows is no rule\ncategory\n")
	for _, c := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"rules check classify " + one, 0, "no errors", "it is \uFFFD[0modd"},
		{"rules check classify " + bad, 2, "", bad + ": rules:"},
		{"rules test classify --item " + w.item, 0, "matched     rules:1, 3 points: kernel in title", ""},
		{"rules test classify --title kernel --json", 0, `"categories":["os"]`, ""},
		{"rules test classify --title compiler " + one, 0, "reason      languages by rules:2", ""},
		{"rules test classify --title compiler --feed " + feedURL + " --tag a --language en " + one, 0, "categories  languages", ""},
		{"rules test classify", 2, "", "nothing to test"},
		{"rules test classify --item x --title y", 2, "", "cannot be used together"},
		{"rules test classify --item none", 1, "", "item none: not found"},
		{"rules test prepare --title x", 2, "", "rules prepare do not decide what items are"},
		{"rules test classify --title x " + bad, 2, "", "rules classify are invalid"},
		{"rules backtest classify " + one, 0, "0 become spam, 0 are no longer spam, 2 gain a label, 0 lose a label", ""},
		{"rules backtest classify " + one, 0, "1 rules never match: rules:3", ""},
		{"rules backtest classify " + one, 0, "languages, before: no labels", ""},
		{"rules backtest classify " + one + " --items 1 --json", 0, `{"items":1,`, ""},
		{"rules backtest classify " + one + " --items 0", 2, "", "items"},
		{"rules backtest prepare " + one, 2, "", "rules prepare do not decide"},
		{"rules set classify " + one, 0, "version 1", ""},
		{"rules diff classify 0", 0, "+category languages when compiler", ""},
		{"rules diff classify 1 --json", 0, `{"diff":""}`, ""},
		{"rules diff classify 9", 1, "", "not found"},
		{"rules jobs", 0, "", "no jobs yet"},
		{"rules apply classify", 0, "is done: 2 of 2 items, 1 changed\nundo with: agent rules undo ", ""},
		{"rules apply classify --all", 0, "is done: 2 of 2 items, 1 changed\nundo with: agent rules undo ", ""},
		{"rules apply classify --no-wait", 0, " started; it continues", ""},
		{"rules apply classify 9", 1, "", "not found"},
		{"rules apply prepare", 2, "", "rules prepare do not decide"},
		{"rules train classify", 0, "the trained version is in use", ""},
		{"rules jobs", 0, "relabel  done", ""},
		{"rules undo none", 1, "", "job none: not found"},
		{"rules cancel none", 1, "", "job none: not found"},
	} {
		t.Run(c.line, func(t *testing.T) { w.do(t, strings.Fields(c.line)...).check(t, c.code, c.out, c.err) })
	}
}

func TestRulesUndo_RevertsApply(t *testing.T) {
	w := newTestbed(t)
	var job wire.Job
	if err := json.Unmarshal([]byte(w.do(t, "rules", "apply", "classify", "--json").out), &job); err != nil {
		t.Fatal(err)
	}
	if item, err := storage.ItemByID(t.Context(), w.Store, w.item); err != nil || fmt.Sprint(item.Categories) != "[os]" {
		t.Errorf("got %v, %v; want it labelled", item.Categories, err)
	}
	w.do(t, "rules", "undo", job.ID).check(t, 0, "is done: 1 of 1 items, 1 changed", "")
	if item, err := storage.ItemByID(t.Context(), w.Store, w.item); err != nil || len(item.Categories) != 0 {
		t.Errorf("got %v, %v; want it as it was", item.Categories, err)
	}
	w.do(t, "rules", "cancel", job.ID).check(t, 1, "", "this job has ended")
}

func TestItemsLabelAndSpam_ManualLabels(t *testing.T) {
	w := newTestbed(t)
	for _, c := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"spam list", 0, "", "no spam found"},
		{"spam report " + w.item + " none", 3, w.item + ": marked as spam", "item none: not found"},
		{"spam list", 0, "  a person said so: spam\n  agent spam release " + w.item, ""},
		{"spam list --feed " + feedURL + " --json", 0, `"total":1`, ""},
		{"spam list --feed mailto:x", 2, "", "is not a web address"},
		{"spam list --limit 0", 2, "", "limit"},
		{"spam release " + w.item + " --json", 0, `{"done":["` + w.item + `"],"failed":[]}`, ""},
		{"spam release none", 1, "", "item none: not found"},
		{"spam list", 0, "", "no spam found"},
		{"items label " + w.item + " --category hardware --category os --topic linux --no-spam", 0, "categories  hardware, os", ""},
		{"items label " + w.item + " --no-topics --json", 0, `"categories":["hardware","os"],"why":`, ""},
		{"items show " + w.item, 0, "It has a new scheduler.", ""},
		{"items label " + w.item, 0, "reason      a person said so: not spam; categories hardware, os; topics none", ""},
		{"items label " + w.item + " --forget", 0, "categories  hardware, os", ""},
		{"items label " + w.item + " --forget --spam", 2, "", "--forget cannot be used with other flags"},
		{"items label " + w.item + " --category a --no-categories", 2, "", "--category and --no-categories cannot be used together"},
		{"items label " + w.item + " --topic a --no-topics", 2, "", "--topic and --no-topics cannot be used together"},
		{"items label " + w.item + " --category Ä", 2, "", `"Ä" in categories is not a name: use lower-case letters`},
		{"feeds set " + feedURL + " --spam-threshold 0.8", 0, "spam from    score 0.8", ""},
		{"feeds set " + feedURL + " --spam-threshold 2", 2, "", "spam_threshold"},
		{"items label none", 1, "", "item none: not found"},
	} {
		t.Run(c.line, func(t *testing.T) { w.do(t, strings.Fields(c.line)...).check(t, c.code, c.out, c.err) })
	}
}

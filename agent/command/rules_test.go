package command

import (
	"strings"
	"testing"
)

func TestRulesCommands_OutputAndExitCode(t *testing.T) {
	w := newTestbed(t)
	one, two, bad := write(t, "one", "keep tables\n"), write(t, "two", "keep code\x1b[0m\n"), write(t, "bad", "lose all\n")
	for _, c := range []struct {
		line     string
		code     int
		out, err string
	}{
		{"rules list", 0, "prepare   built-in  never    0 of 1 up to date", ""},
		{"rules versions prepare", 0, "", "the built-in rules are in use; agent rules show prepare prints them"},
		{"rules show prepare", 0, "keep all\n", ""},
		{"rules show none", 1, "", `there is no rule set "none"; there are: prepare`},
		{"rules show prepare 1", 1, "", "version 1 of rules prepare: not found"},
		{"rules show prepare x", 2, "", "expected a whole number"},
		{"rules check prepare " + one, 0, "no errors", ""},
		{"rules check prepare " + bad, 2, "", bad + `: line 1: "lose all" is no rule`},
		{"rules check prepare " + bad + " --json", 2, `{"sound":false,"faults":["line 1: \"lose all\" is no rule"],"warnings":[]}`, ""},
		{"rules check prepare /no/such/file", 2, "", "read rules: open /no/such/file"},
		{"rules set prepare " + bad, 2, "", `rules prepare are invalid, nothing was changed: line 1: "lose all" is no rule`},
		{"rules set prepare -", 2, "", "- is empty"},
		{"rules set prepare " + one + " --note tables", 0, "prepare: version 1; in use by all agents", ""},
		{"rules list", 0, "1 of 1 up to date", ""},
		{"rules set prepare " + two + " --from 0", 1, "", "your rules are based on version 0, but version 1 was stored"},
		{"rules set prepare " + two + " --json", 0, `"version":2`, ""},
		{"rules show prepare --json", 0, `{"name":"prepare","version":2,"text":"keep code\u001b[0m\n"}`, ""},
		{"rules show prepare 1", 0, "keep tables\n", ""},
		{"rules restore prepare 1", 0, "prepare: version 3;", ""},
		{"rules restore prepare 9", 1, "", "not found"},
		{"rules restore prepare x", 2, "", "expected a whole number"},
		{"rules restore prepare 0 --json", 0, `"note":"built-in rules restored"`, ""},
		{"rules versions prepare", 0, "VERSION  CHANGED", ""},
		{"rules versions prepare --limit 1 --json", 0, `"next":4`, ""},
		{"rules versions prepare --limit 0", 2, "", "limit"},
	} {
		t.Run(c.line, func(t *testing.T) { w.do(t, strings.Fields(c.line)...).check(t, c.code, c.out, c.err) })
	}
}

func TestReadRules_SizeLimit(t *testing.T) {
	w := newTestbed(t)
	w.do(t, "rules", "set", "prepare", write(t, "large", "keep"+strings.Repeat("x", 4<<20))).check(t, 2, "", "exceeds the limit of 4 MB")
	w.do(t, "rules", "set", "prepare", write(t, "largest", "keep"+strings.Repeat("x", 4<<20-4))).check(t, 0, "version 1", "")
}

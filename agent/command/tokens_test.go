package command

import (
	"strings"
	"testing"

	"feedmesh/agent/access"
)

func TestTokens_AddListRemove(t *testing.T) {
	w := newTestbed(t)
	run := func(line string) commandOutput { return w.do(t, strings.Fields(line)...) }
	run("tokens list").check(t, 0, "", "no tokens yet; create one with: agent tokens add NAME")
	made := run("tokens add phone --scope search")
	made.check(t, 0, "fm_", "created with scope search; its secret is not shown again")
	secret := strings.TrimSpace(made.out)
	if !access.IsGenerated(secret) || strings.ContainsAny(secret, " \n") || strings.Contains(made.err, secret) {
		t.Errorf("got %q and %q, want the secret alone, for a file", made.out, made.err)
	}
	run("search kernel --token "+secret).check(t, 0, "Kernel released", "")
	run("feeds list --token "+secret).check(t, 1, "", "lacks the scope read")
	list := run("tokens list")
	list.check(t, 0, "phone", "")
	if fields := strings.Fields(strings.Split(list.out, "\n")[1]); strings.Contains(list.out, secret) || fields[2] != "search" || fields[4] == "never" {
		t.Errorf("got %s, want the token without its secret, used", list.out)
	}
	id := strings.Fields(made.err)[1]
	run("tokens remove "+id+" none").check(t, 3, id+": removed", "none: ")
	run("search kernel --token "+secret).check(t, 1, "", "a token is required")
	run("tokens add x --scope root").check(t, 2, "", `--scope must be one of "metrics","search","read","write","admin"`)
	run("tokens add ").check(t, 2, "", `expected "<name>"`)
	run("tokens add x --json").check(t, 0, `"secret":"fm_`, "")
}

func TestLargestScope(t *testing.T) {
	for want, scopes := range map[string][]access.Scope{"nothing": nil, "write": {access.Write, access.Search}, "admin": access.Scopes} {
		if got := largestScope(scopes); got != want {
			t.Errorf("%v: got %s, want %s", scopes, got, want)
		}
	}
}

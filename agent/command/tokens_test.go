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
	run("tokens add x --scope root").check(t, 2, "", `--scope must be one of "metrics","search","read","write","rules","admin"`)
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

func TestPeople_AddChangeRemove(t *testing.T) {
	w := newTestbed(t)
	run := func(line string) commandOutput { return w.do(t, strings.Fields(line)...) }
	run("people list").check(t, 0, "", "no people yet; add one with: agent people add NAME --role owner")
	token := strings.TrimSpace(run("tokens add command --scope admin").out)
	run("people add bob").check(t, 1, "", "make another person an owner first")
	link := run("people add Ann --role owner")
	link.check(t, 0, w.URL+"/login/first?link=fm_", "ann added as owner")
	run("people list").check(t, 1, "", "a token is required") // from the first person on
	t.Setenv("FEEDMESH_TOKEN", token)
	run("people add ann").check(t, 1, "", "there is a person of this name already")
	run("people add a/b").check(t, 2, "", "letters and digits")
	do(t, "short\n", "people", "add", "bob", "--stdin").check(t, 2, "", "at least 12 characters")
	do(t, "correct horse\n", "people", "add", "bob", "--stdin").check(t, 0, "", "bob added as reader")
	run("people role bob editor").check(t, 0, "bob: editor", "")
	run("people role ann reader").check(t, 1, "", "make another person an owner first")
	run("people role cid reader").check(t, 1, "", "cid: not found")
	if list := run("people list"); !strings.Contains(list.out, "not set") || strings.Contains(list.out, "argon2id") || len(strings.Split(strings.TrimSpace(list.out), "\n")) != 3 {
		t.Errorf("got %s, want two people without their hashes", list.out)
	}
	run("people password bob").check(t, 0, "/login/first?link=fm_", "within a day")
	do(t, "another password", "people", "password", "ann", "--stdin").check(t, 0, "ann: password set", "")
	run("people remove bob none").check(t, 3, "bob: removed", "none")
	run("people remove ann").check(t, 1, "", "make another person an owner first")
}

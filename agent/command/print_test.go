package command

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/wire"
)

func TestClean_RemovesTerminalControls(t *testing.T) {
	for in, want := range map[string]string{
		"plain – ü 漢":       "plain – ü 漢",
		"a\nb\tc":           "a b c",
		"\x1b[31mred\x07":   "�[31mred�",
		"\u009b31m\x7f":     "�31m�",
		"abc\u202ecba":      "abc�cba",
		"\xff":              "�",
		"line\u2028further": "line further",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestPrintJSON_EscapesTerminalControls(t *testing.T) {
	var out bytes.Buffer
	p := &program{out: &out}
	if err := p.printJSON(map[string]string{"title": "\x1b\u009b\u202e<b>"}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), `{"title":"\u001b\u009b\u202e<b>"}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSpans_HighlightOnlyWithColor(t *testing.T) {
	spans := []wire.Span{{Text: "a "}, {Text: "hit\x1b", Hit: true}}
	if got, want := (&page{color: true}).spans(spans), styled("a \x1b[1;33mhit�\x1b[0m"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (&page{}).spans(spans), styled("a hit�"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		3 * time.Second:       "now",
		45 * time.Second:      "45 s ago",
		3 * time.Minute:       "3 min ago",
		-5 * time.Minute:      "in 5 min",
		47 * time.Hour:        "47 h ago",
		72 * time.Hour:        "3 days ago",
		50 * 24 * time.Hour:   now.Add(-50 * 24 * time.Hour).Local().Format(time.DateOnly),
		-100 * 24 * time.Hour: now.Add(100 * 24 * time.Hour).Local().Format(time.DateOnly),
	} {
		if got := ago(now.Add(-d), now); got != want {
			t.Errorf("%v ago is %q, want %q", d, got, want)
		}
	}
	if got := ago(time.Time{}, now); got != "never" {
		t.Errorf("no time is %q", got)
	}
}

func TestTimeFlag(t *testing.T) {
	for in, want := range map[string]time.Time{
		"2026-01-31T12:00:00+01:00": time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC),
		"2026-01-31":                time.Date(2026, 1, 31, 0, 0, 0, 0, time.Local),
		"90m":                       time.Now().Add(-90 * time.Minute),
		"7d":                        time.Now().AddDate(0, 0, -7),
	} {
		var m timeFlag
		if err := m.UnmarshalText([]byte(in)); err != nil || m.Sub(want).Abs() > time.Minute {
			t.Errorf("%s is %v (%v), want %v", in, m, err, want)
		}
	}
	for _, in := range []string{"", "noon", "-1h", "2026-13-01"} {
		if err := new(timeFlag).UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is taken for a time", in)
		}
	}
}

func TestCompletion_Bash(t *testing.T) {
	isolate(t)
	script := do(t, "", "completion", "bash")
	script.check(t, 0, "complete -o default -F _agent agent", "")
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	cases := map[string]string{
		"feeds l": "list", "quarantine d": "drop", "search --so": "--sort", "feeds list --fail": "--failing", "st": "stories status", "run --crawl-t": "--crawl-timeout",
	}
	for typed, want := range cases {
		words := strings.Fields(typed)
		cmd := exec.Command(bash, "-c", script.out+`
COMP_WORDS=(agent "$@"); COMP_CWORD=$#; _agent; echo "${COMPREPLY[*]}"`, "bash")
		cmd.Args = append(cmd.Args, words...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q completes to %q (%v), want %q", typed, got, err, want)
		}
	}
}

func TestCompletion_OtherShellsListAllCommands(t *testing.T) {
	isolate(t)
	do(t, "", "completion", "zsh").check(t, 0, "'replay:Return tasks to their queues.'", "")
	do(t, "", "completion", "fish").check(t, 0, "complete -c agent -f -n '__fish_seen_subcommand_from quarantine' -a replay -d 'Return tasks to their queues.'", "")
}

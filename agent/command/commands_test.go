package command

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func unset(t *testing.T, name string) {
	t.Helper()
	if err := os.Unsetenv(name); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommands_OutputAndExitCode(t *testing.T) {
	w := newTestbed(t)
	other := storage.FeedID("https://b.example/feed")
	cases := []struct {
		line     string
		code     int
		out, err string
	}{
		{"status", 0, "feeds    1 stored, 1 polled, 1 failing", ""},
		{"status", 0, "index  0      -       1MB   25 %", ""},
		{"status --json", 0, `"version":"test"`, ""},
		{"search kernel", 0, "Kernel released �]0;owned�\n  A �]0;owned� · 3 min ago · en", ""},
		{"search released --limit 1", 0, "agent items ", "1 of 2 results; use --limit to show more"},
		{"search released --json", 0, `"total":2`, ""},
		{"search released --after 1h --json", 0, `"total":1`, ""},
		{"search released --before 1h --json", 0, `"total":1`, ""},
		{"search released --feed " + feedURL + " --sort newest --all-duplicates --language en --json", 0, `"total":2`, ""},
		{"search released --spam", 0, "", "nothing found"},
		{"search released --category none", 0, "", "nothing found"},
		{"search", 0, "Compiler released", ""},
		{"briefing", 0, "Kernel released", "sentences of the items: no model writes briefings: set briefing.url and briefing.model"},
		{"briefing --hours 48 --language ru --json", 0, `"by":"extract","reason":"off"`, ""},
		{"briefing --view none", 1, "", "view none: not found"},
		{"briefing --hours 400", 2, "", "query.hours"},
		{"search released --once", 0, "Kernel released", ""},
		{"search kernal", 0, "Kernel released", "no item has all these words; showing close matches"},
		{"search -- -kernel", 0, "Compiler released", ""},
		{"search title:", 2, "", "at character 7: title: has no value"},
		{"search x --feed http://", 2, "", `agent: --feed: "http://" is not a web address`},
		{"search x --limit 0", 2, "", "--limit: 0 is not positive"},
		{"search x --after noon", 2, "", `--after: invalid time "noon"; write 2026-01-31`},
		{"search x --sort odd", 2, "", `--sort must be one of "best","newest"`},
		{"search x --language " + strings.Repeat("e", 9), 2, "", "expected length <= 8 (query.language)"},
		{"items " + w.item, 0, "It has a new scheduler.", ""},
		{"items " + w.item + " --json", 0, `"html":"<p>It has a new scheduler.</p>"`, ""},
		{"items nope", 1, "", "agent: item nope: not found\n"},
		{"feeds list", 0, "in 10 min  failed: dns  " + feedURL, ""},
		{"feeds list --failing --json", 0, `"failures":2`, ""},
		{"feeds show " + w.feed, 0, "error        no such host", ""},
		{"feeds show " + feedURL + " --json", 0, `"id":"` + w.feed + `"`, ""},
		{"feeds show " + w.feed, 0, "1 min ago  200     1000  4321          eu  pinned: every 5 min, by a user", ""},
		{"feeds show nope", 1, "", "feed nope: not found"},
		{"feeds show mailto:x", 2, "", "is not a web address"},
		{"feeds add b.example/feed " + feedURL + " nonsense", 3, "added  " + other, `agent: "nonsense" is not a web address`},
		{"feeds add c.example/feed --tag a", 0, "added  " + storage.FeedID("https://c.example/feed"), "c.example/feed cannot be fetched (no such host); added anyway, to be polled later"},
		{"feeds add d.example/feed --as-is", 0, "added", ""},
		{"feeds add nonsense --json", 2, `"outcome":"invalid"`, "is not a web address"},
		{"feeds add " + feedURL, 0, "known  " + w.feed, ""},
		{"feeds refresh " + feedURL + " nope", 3, feedURL + ": will be polled now", "agent: feed nope: not found\n"},
		{"feeds refresh nope", 1, "", "feed nope: not found"},
		{"feeds remove nonsense:", 2, "", "is not a web address"},
		{"feeds remove nope --json", 1, `{"done":[],"failed":[{"name":"nope","error":"feed nope: not found"}]}`, ""},
		{"feeds set " + feedURL, 2, "", "no setting given"},
		{"feeds set " + feedURL + " --tag a --no-tags", 2, "", "--tag and --no-tags cannot be used together"},
		{"feeds set " + feedURL + " --proxy eu", 2, "", `there is no proxy "eu"`},
		{"feeds set nope --pin", 1, "", "feed nope: not found"},
		{"proxies list", 0, "", "no proxies yet"},
		{"proxies set eu http://me:s3cret@proxy.example:3128 --host .Example.org", 0, "eu: http://me:xxxxx@proxy.example:3128", ""},
		{"proxies set EU http://proxy.example:3128", 2, "", "path.id"},
		{"proxies list", 0, "on rejection  example.org  not used yet", ""},
		{"proxies set us region:us-east --host example.net", 0, "us: region:us-east", ""},
		{"proxies set us region:US", 2, "", "is no name of a region"},
		{"proxies set us region:", 2, "", "is no name of a region"},
		{"proxies remove us", 0, "us: removed", ""},
		{"proxies list --json", 0, `"url":"http://me:xxxxx@proxy.example:3128"`, ""},
		{"feeds set " + feedURL + " --pin --tag a --tag b --user-agent x --header X-Key=s3cret --user me --proxy eu", 0, "pinned       polled as often as possible", ""},
		{"feeds show " + feedURL, 0, "headers      X-Key", ""},
		{"feeds set " + feedURL + " --full-text", 0, "full text    from the pages", ""},
		{"feeds set " + feedURL + " --no-full-text --json", 0, `"pinned":true,"added"`, ""},
		{"feeds set " + feedURL + " --no-pin --json --no-tags", 0, `"user_agent":"x"`, ""},
		{"proxies remove eu us", 3, "eu: removed", "proxy us: not found"},
		{"views list", 0, "", "no views yet"},
		{"views items none", 1, "", "not found"},
		{"views remove none", 1, "", "not found"},
		{"imports list", 0, "", "no imports yet"},
		{"imports show nope", 1, "", "import nope: not found"},
		{"feeds export", 0, `xmlUrl="` + feedURL + `"`, ""},
		{"feeds remove b.example/feed", 0, "b.example/feed: removed", ""},
		{"quarantine list", 0, "no good at all", ""},
		{"quarantine list --json", 0, `{"tasks":[{"seq":3,`, ""},
		{"quarantine show 3", 0, `  "feed_id": "x"`, ""},
		{"quarantine show 9", 1, "", "no such task in quarantine"},
		{"quarantine show x", 2, "", `expected a whole number but got "x"`},
		{"quarantine replay 3 9", 3, "task 3: returned to its queue", "agent: 9: no such task"},
		{"quarantine replay 0", 2, "", "not a task number"},
		{"quarantine drop all", 0, "task 4: dropped", ""},
		{"quarantine list", 0, "", "the quarantine is empty"},
		{"reindex --no-wait", 0, "reindex started: 2 items", ""},
	}
	for _, c := range cases {
		t.Run(c.line, func(t *testing.T) {
			w.do(t, strings.Fields(c.line)...).check(t, c.code, c.out, c.err)
		})
	}
}

// An failingIndex finds nothing.
type failingIndex struct{ storage.Index }

func (failingIndex) Search(context.Context, storage.Query) (storage.Results, error) {
	return storage.Results{}, storage.ErrUnavailable
}

func TestSearch_ReportsFallbackToStore(t *testing.T) {
	w := newTestbed(t, func(d *service.Deps) { d.Index = failingIndex{d.Index} })
	w.do(t, "search", "kernel").check(t, 0, "Kernel released", "The search index does not answer.")
	w.do(t, "search", "kernel", "--json").check(t, 0, `"by":"store"`, "")
}

func TestUsageErrors_ExitCodeTwo(t *testing.T) {
	isolate(t)
	cases := []struct{ line, err string }{
		{"serch words", `did you mean "search"?`},
		{"feeds ad", `did you mean "add"?`},
		{"feeds add", "run agent feeds add --help for usage"},
		{"status --jsn", `did you mean "--json"?`},
		{"status --api nowhere", `--api: "nowhere" is no address of an API; write it as http://127.0.0.1:8080`},
		{"feeds import /no/such/file", "read list: open /no/such/file"},
		{"feeds import .", "is a folder"},
		{"completion tcsh", "must be one of"},
		{"--config /no/such/file", "/no/such/file: no such file"},
		{"--token @/no/such/file", "--token: open /no/such/file"},
		{"items", `expected "<id>"`},
	}
	for _, c := range cases {
		t.Run(c.line, func(t *testing.T) { do(t, "", strings.Fields(c.line)...).check(t, 2, "", c.err) })
	}
}

func TestFeedsExport_ReplacesFileOnlyWhenComplete(t *testing.T) {
	w := newTestbed(t)
	path := write(t, "feeds.opml", "old")
	w.do(t, "feeds", "export", path, "--api", "http://127.0.0.1:1").check(t, 1, "", "no node answers")
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("after a failure the file has %q", got)
	}
	w.do(t, "feeds", "export", path).check(t, 0, "", "")
	if got, _ := os.ReadFile(path); !strings.Contains(string(got), feedURL) {
		t.Errorf("the file has %q", got)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("there are %d files, want the list alone", len(files))
	}
	w.do(t, "feeds", "export", "/no/such/folder/x").check(t, 1, "", "write list")
}

func TestSearch_RequestsPagesUpToLimit(t *testing.T) {
	w := newTestbed(t)
	var items []storage.Item
	for i := range 250 {
		key := strings.Repeat("k", i+3)
		items = append(items, storage.Item{ID: storage.ItemID(w.feed, key), FeedID: w.feed, Key: key, Hash: "1", Title: "gopher"})
	}
	_, err := w.Store.PutItems(t.Context(), storage.Batch{FeedID: w.feed, Items: items})
	var indexed []storage.IndexItem
	for _, it := range items {
		indexed = append(indexed, storage.IndexItem{Item: it})
	}
	if err := errors.Join(err, w.Index.Put(t.Context(), indexed...)); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[string]int{"230": 230, "1000": 250} {
		var found wire.SearchResults
		if err := json.Unmarshal([]byte(w.do(t, "search", "gopher", "--json", "--limit", limit).out), &found); err != nil {
			t.Fatal(err)
		}
		if got := len(found.Items); got != want {
			t.Errorf("--limit %s prints %d items, want %d", limit, got, want)
		}
	}
}

func TestToken_IsSent(t *testing.T) {
	w := newTestbed(t, func(d *service.Deps) { d.Token = "s3cret" })
	w.do(t, "status").check(t, 1, "", "a token is required")
	w.do(t, "status", "--token", "s3cret").check(t, 0, "version", "")
	w.do(t, "status", "--token", "@"+write(t, "token", "s3cret\n")).check(t, 0, "version", "")
	w.do(t, "status", "--config", write(t, "c.toml", `token = "s3cret"`)).check(t, 0, "version", "")
	w.do(t, "doctor", "--data", t.TempDir()).check(t, 1, "FAILED  api", "")
}

func TestCommands_NoNodeRunning(t *testing.T) {
	isolate(t)
	do(t, "", "status", "--api", "http://127.0.0.1:1").check(t, 1, "",
		"agent: no node answers at http://127.0.0.1:1: is one running? start one with: agent\n")
}

func TestStatus_Backups(t *testing.T) {
	state := &wire.BackupState{To: "/backups", Last: time.Now().Add(-time.Hour), Size: 3 << 20, Requested: time.Now().Add(-2 * time.Hour), RequestedSize: 1 << 20}
	w := newTestbed(t, func(d *service.Deps) { d.BackupState = func() *wire.BackupState { return state } })
	s := w.do(t, "status")
	for _, want := range []string{"1 h ago, 3MB in /backups", "2 h ago, 1MB on request"} {
		if !strings.Contains(s.out, want) {
			t.Errorf("the status lacks %q: %s", want, s.out)
		}
	}
	state = &wire.BackupState{To: "/backups"}
	w.do(t, "status").check(t, 0, "none yet in /backups", "")
}

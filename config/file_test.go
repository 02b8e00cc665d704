package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// parse returns the settings of a command line with a configuration file.
func parse(t *testing.T, text string, args ...string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "feedmesh.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	type settings Config // without the Validate method, which kong would call
	var cli struct {
		File kong.ConfigFlag `name:"config"`
		Run  struct {
			Settings settings `embed:""`
		} `cmd:"" default:"withargs"`
	}
	k, err := kong.New(&cli, Types()...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.Parse(append([]string{"--config", path}, args...))
	return Config(cli.Run.Settings), err
}

func TestFile_FlatKeysAndTables(t *testing.T) {
	want := Default()
	want.Roles, want.Starter, want.Listen = []string{"crawl", "parse"}, false, "[::1]:80"
	want.AllowNet = Networks("10.0.0.0/8", "fd00::/8")
	want.Crawl = Crawl{Timeout: 90 * time.Second, MaxBody: 1 << 20, Parallel: 8}
	want.Log.Level = "warn"
	const head = "listen = '[::1]:80' # where\nroles = ['crawl', 'parse']\nallow-net = [\n'10.0.0.0/8',\n'fd00::/8',\n]\nstarter = false\n"
	for name, text := range map[string]string{
		"tables":        head + "[crawl]\ntimeout = '1m30s'\nmax-body = '1MB'\nparallel = 8\n[log]\nlevel = 'warn'\n",
		"flags' names":  head + "crawl-timeout = '1m30s'\ncrawl-max-body = 1048576\ncrawl-parallel = 8\nlog-level = 'warn'\n",
		"dotted names":  head + "crawl.timeout = '1m30s'\ncrawl.max-body = '1 mb'\ncrawl.parallel = '8'\nlog.level = 'warn'\n",
		"inline tables": head + "crawl = {timeout = '1m30s', max-body = '1024KB', parallel = 8}\nlog = {level = 'warn'}\n",
		"both":          head + "log-level = 'warn'\ncrawl-parallel = 8\n[crawl]\ntimeout = '1m30s'\nmax-body = '1MB'\n",
	} {
		if got, err := parse(t, text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, want)
		}
	}
}

func TestFile_EmptyChangesNothing(t *testing.T) {
	for _, text := range []string{"", "\n# nothing\n", "[crawl]\n", "\ufeff"} {
		if got, err := parse(t, text); err != nil || !reflect.DeepEqual(got, Default()) {
			t.Errorf("%q: got %+v, %v; want the defaults", text, got, err)
		}
	}
}

func TestFile_ErrorsHavePosition(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no TOML", "listen = 'x'\n[crawl]\ntimeout = 5s\n", "line 3, column "},
		{"not closed", "listen = 'x", "line 1, column "},
		{"twice", "listen = 'x'\nlisten = 'y'\n", "line 2, column "},
		{"twice, in both forms", "crawl-timeout = '1s'\n[crawl]\nparallel = 1\ntimeout = '2s'\n", "crawl-timeout is set twice (line 4)"},
		{"twice, in an inline table", "crawl = {timeout = '1s'}\ncrawl-timeout = '2s'\n", "crawl-timeout is set twice (line 2)"},
		{"unknown", "\nlisen = 'x'\n", `unknown setting "lisen" (line 2); agent config lists all settings`},
		{"unknown in a table", "[crawl]\nparallel = 1\ntimeou = '5s'\n", `unknown setting "crawl-timeou" (line 3)`},
		{"unknown table", "[crwl]\ntimeout = '5s'\n", `unknown setting "crwl-timeout" (line 2)`},
		{"unknown in an inline table", "\n\ncrawl = {timeou = '5s'}\n", `unknown setting "crawl-timeou" (line 3)`},
		{"a table for a value", "[crawl.timeout]\nseconds = 5\n", `unknown setting "crawl-timeout-seconds" (line 2)`},
		{"tables for a value", "[[contact]]\nhost = 'x'\n", "contact: invalid value: a list of lists or tables (line 1)"},
		{"lists for values", "\nroles = [['crawl']]\n", "roles: invalid value: a list of lists or tables (line 2)"},
		{"a name of another case", "Listen = 'x'\n", `unknown setting "Listen" (line 1)`},
		{"no duration", "crawl.timeout = 5\n", `--crawl-timeout`},
		{"no number", "crawl.parallel = 1.5\n", `--crawl-parallel`},
		{"no size", "crawl.max-body = 'much'\n", `"much" is not a size; write it as 10MB`},
		{"no network", "allow-net = ['10.0.0.1']\n", `--allow-net`},
		{"no choice", "log.level = 'loud'\n", `--log-level must be one of "debug","info","warn","error"`},
		{"no secret", "token = '@/no/such/file'\n", "/no/such/file"},
	} {
		if got, err := parse(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %+v, %v; want an error with %q", c.name, got, err, c.want)
		}
	}
}

func TestFile_UnknownNamesInOrder(t *testing.T) {
	for range 10 { // map iteration order varies
		_, err := parse(t, "z = 1\ny = 2\n[crawl]\nx = 3\n[log]\nw = 4\n")
		want := []string{`"z" (line 1)`, `"y" (line 2)`, `"crawl-x" (line 4)`, `"log-w" (line 6)`}
		if err == nil {
			t.Fatal("got no error")
		}
		rest := err.Error()
		for _, w := range want {
			_, after, found := strings.Cut(rest, w)
			if !found {
				t.Fatalf("got %v; want %s in it, in this order", err, want)
			}
			rest = after
		}
	}
}

func TestFile_EnvironmentOverridesFile(t *testing.T) {
	const text = "token = 'file'\n[crawl]\ntimeout = '5s'\nparallel = 5\n"
	t.Setenv("FEEDMESH_CRAWL_TIMEOUT", "6s")
	t.Setenv("FEEDMESH_TOKEN", "")
	c, err := parse(t, text, "--crawl-parallel", "7")
	if err != nil {
		t.Fatal(err)
	}
	if c.Crawl.Timeout != 6*time.Second {
		t.Errorf("timeout: got %v, want 6s of the environment", c.Crawl.Timeout)
	}
	if c.Crawl.Parallel != 7 {
		t.Errorf("parallel: got %d, want 7 of the command line", c.Crawl.Parallel)
	}
	if string(c.Token) != "" {
		t.Errorf("token: got %q, want the environment's, which is empty", string(c.Token))
	}
}

func TestSecret_ReadFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, flag, env string }{
		"flag": {flag: "--token=@" + path}, "environment": {env: "@" + path}, "file": {file: "token = '@" + path + "'"},
		"plain": {flag: "--token=s3cret"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.env != "" {
				t.Setenv("FEEDMESH_TOKEN", c.env)
			}
			var args []string
			if c.flag != "" {
				args = append(args, c.flag)
			}
			if got, err := parse(t, c.file, args...); err != nil || got.Token != "s3cret" {
				t.Errorf("got %q, %v; want s3cret", string(got.Token), err)
			}
		})
	}
}

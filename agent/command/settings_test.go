package command

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"feedmesh/agent/node"
	"feedmesh/config"
)

// runFlags returns the flags of run that are settings.
func runFlags(t *testing.T) []*kong.Flag {
	for _, command := range (&program{}).parser(t.Context(), nil).Model.Children {
		if command.Name == "run" {
			return command.Flags
		}
	}
	t.Fatal("there is no command run")
	return nil
}

// values returns three values of a flag that differ from its default and from each other, if its type has as
// many.
func values(t *testing.T, f *kong.Flag) []string {
	if f.Enum != "" {
		var others []string
		for _, v := range f.EnumSlice() {
			if v != f.Default {
				others = append(others, v)
			}
		}
		return []string{others[0], f.Default, others[len(others)-1]}
	}
	switch f.Target.Interface().(type) {
	case bool:
		return []string{"false", "true", "false"}
	case int:
		return []string{"11", "12", "13"}
	case time.Duration:
		return []string{"73h0m0s", "74h0m0s", "75h0m0s"}
	case config.Bytes:
		return []string{"1MB", "2MB", "3MB"}
	case []netip.Prefix:
		return []string{"10.1.0.0/16", "10.2.0.0/16,10.3.0.0/16", "10.4.0.0/16"}
	case float64:
		return []string{"0.25", "0.5", "0.75"}
	case string, config.Secret, []string, config.Address, []config.Address:
		return []string{"one", "two", "three"}
	}
	t.Fatalf("the test knows no values of --%s", f.Name)
	return nil
}

func show(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case config.Secret:
		return string(x)
	case config.Address:
		return string(x)
	case []string:
		return strings.Join(x, ",")
	case []config.Address:
		return strings.Trim(fmt.Sprint(x), "[]")
	case []netip.Prefix:
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(x), "[]"), " ", ",")
	}
	return fmt.Sprint(v.Interface())
}

// parsed returns the value of a flag of run after parsing a command line.
func parsed(t *testing.T, name string, args ...string) string {
	t.Helper()
	k := (&program{}).parser(t.Context(), args)
	ctx, err := k.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ctx.Selected().Flags {
		if f.Name == name {
			return show(f.Target)
		}
	}
	t.Fatalf("there is no flag --%s", name)
	return ""
}

func TestSettings_Precedence(t *testing.T) {
	isolate(t)
	for i, f := range runFlags(t) {
		t.Run(f.Name, func(t *testing.T) {
			if testing.Short() && i%5 > 0 {
				t.Skip("skipped by -short: one setting of five is enough")
			}
			if len(f.Envs) != 1 || f.Envs[0] != "FEEDMESH_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")) {
				t.Fatalf("it is %v in the environment", f.Envs)
			}
			v := values(t, f)
			file := write(t, "c.toml", f.Name+" = "+quote(v[0]))
			if got := parsed(t, f.Name, "--config", file); got != v[0] {
				t.Errorf("a file's value is %q, want %q", got, v[0])
			}
			t.Setenv(f.Envs[0], v[1])
			if got := parsed(t, f.Name); got != v[1] {
				t.Errorf("the environment's value is %q, want %q", got, v[1])
			}
			if got := parsed(t, f.Name, "--config", file); got != v[1] {
				t.Errorf("with both it is %q, want the environment's %q", got, v[1])
			}
			if got := parsed(t, f.Name, "--config", file, "--"+f.Name+"="+v[2]); got != v[2] {
				t.Errorf("with all three it is %q, want the flag's %q", got, v[2])
			}
		})
	}
}

func quote(s string) string { return `"` + s + `"` }

func TestSettings_FileFromEnvironment(t *testing.T) {
	isolate(t)
	t.Setenv("FEEDMESH_CONFIG", write(t, "c.toml", "[crawl]\nparallel = 7\n"))
	if got := parsed(t, "crawl-parallel"); got != "7" {
		t.Errorf("crawl.parallel is %s, want 7", got)
	}
}

func TestConfig_OutputRoundTrips(t *testing.T) {
	isolate(t)
	first := do(t, "", "config", "--roles", "crawl,parse", "--crawl-timeout", "5s", "--allow-net", "10.0.0.0/8", "--no-starter", "--log-level", "warn")
	first.check(t, 0, "# FEEDMESH_CRAWL_TIMEOUT\ntimeout = '5s'", "")
	var got config.Config
	p := &program{node: func(_ context.Context, c config.Config, _ node.Options) error { got = c; return nil }}
	doWith(t, p, "--config", write(t, "c.toml", first.out)).check(t, 0, "", "")
	want := config.Default()
	want.Roles, want.Crawl.Timeout, want.Starter, want.Log.Level = []string{"crawl", "parse"}, 5*time.Second, false, "warn"
	want.AllowNet = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	want.NATS, want.Servers.Peers, want.FullText, want.ProxyNet, want.CORS = []config.Address{}, []string{}, []string{}, []netip.Prefix{}, []string{} // the file contains empty lists
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestConfig_HidesSecrets(t *testing.T) {
	isolate(t)
	s := do(t, "", "config", "--token", "s3cret", "--nats", "nats://u:s3cret@h:4222,nats://i:4222", "--store", "postgres://u:s3cret@h/d",
		"--nats-user", "u", "--nats-password", "s3cret", "--search", "meilisearch://h:7700", "--search-key", "s3cret")
	s.check(t, 0, "# token is set (hidden)", "")
	if strings.Contains(s.out+s.err, "s3cret") {
		t.Errorf("it prints a secret: %s", s.out)
	}
}

func TestConfig_ReportsErrors(t *testing.T) {
	isolate(t)
	do(t, "", "config", "--crawl-parallel", "0").check(t, 2, "parallel = 0", "crawl.parallel: 0 is not between")
	bad := write(t, "bad.toml", "listen = \"x\"\n[crawl]\ntimeout = 5s\n")
	do(t, "", "config", "--config", bad).check(t, 2, "", "bad.toml: line 3, column")
	bad = write(t, "bad.toml", "[crawl]\ntimeou = \"5s\"\n")
	do(t, "", "config", "--config", bad).check(t, 2, "", `bad.toml: unknown setting "crawl-timeou"`)
	if err := os.Setenv("FEEDMESH_CRAWL_PARALLEL", "many"); err != nil {
		t.Fatal(err)
	}
	defer unset(t, "FEEDMESH_CRAWL_PARALLEL")
	do(t, "", "config").check(t, 2, "", `--crawl-parallel: expected a whole number but got "many"`)
}

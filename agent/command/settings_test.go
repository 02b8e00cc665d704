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
	"feedmesh/storage"
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

// values returns three values of the i-th flag that differ from its default, from each other and from those of other
// flags, if its type has as many.
func values(t *testing.T, f *kong.Flag, i int) []string {
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
		return []string{fmt.Sprint(1000 + i), fmt.Sprint(2000 + i), fmt.Sprint(3000 + i)}
	case time.Duration:
		d := time.Duration(i) * time.Minute
		return []string{(100*time.Hour + d).String(), (200*time.Hour + d).String(), (300*time.Hour + d).String()}
	case config.Bytes:
		return []string{fmt.Sprintf("%dMB", 1000+i), fmt.Sprintf("%dMB", 2000+i), fmt.Sprintf("%dMB", 3000+i)}
	case []netip.Prefix, []config.Network:
		return []string{"10.1.0.0/16", "10.2.0.0/16,10.3.0.0/16", "10.4.0.0/16"}
	case storage.Keep:
		return []string{"90d", "1000", "30d,500"}
	case []config.TagKeep:
		return []string{"news=30d", "news=90d,1000;a photo=all", "work=100"}
	case float64:
		return []string{"0.25", "0.5", "0.75"}
	case string, config.Secret, []string, config.Address, []config.Address:
		return []string{f.Name + "-1", f.Name + "-2", f.Name + "-3"}
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
	case []config.TagKeep:
		tags := make([]string, len(x))
		for i, t := range x {
			tags[i] = t.String()
		}
		return strings.Join(tags, ";")
	case []netip.Prefix, []config.Network:
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(x), "[]"), " ", ",")
	}
	return fmt.Sprint(v.Interface())
}

// parsed returns the values of the flags of run after parsing a command line, by name.
func parsed(t *testing.T, args ...string) map[string]string {
	t.Helper()
	k := (&program{}).parser(t.Context(), args)
	ctx, err := k.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range ctx.Selected().Flags {
		all[f.Name] = show(f.Target)
	}
	return all
}

// All settings get a value from each source in one command line: a parser takes long to build.
func TestSettings_Precedence(t *testing.T) {
	isolate(t)
	flags := runFlags(t)
	var lines strings.Builder
	var args []string
	for i, f := range flags {
		v := values(t, f, i)
		fmt.Fprintf(&lines, "%s = %q\n", f.Name, v[0])
		args = append(args, "--"+f.Name+"="+v[2])
	}
	file := write(t, "c.toml", lines.String())
	check := func(sources string, want int, args ...string) {
		t.Helper()
		got := parsed(t, args...)
		for i, f := range flags {
			if v := values(t, f, i); got[f.Name] != v[want] {
				t.Errorf("--%s: with %s it is %q, want %q", f.Name, sources, got[f.Name], v[want])
			}
		}
	}
	check("a file", 0, "--config", file)
	for i, f := range flags {
		if len(f.Envs) != 1 || f.Envs[0] != "FEEDMESH_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")) {
			t.Fatalf("--%s is %v in the environment", f.Name, f.Envs)
		}
		t.Setenv(f.Envs[0], values(t, f, i)[1])
	}
	check("the environment", 1)
	check("a file and the environment", 1, "--config", file)
	check("all three", 2, append(args, "--config", file)...)
}

func TestSettings_FileFromEnvironment(t *testing.T) {
	isolate(t)
	t.Setenv("FEEDMESH_CONFIG", write(t, "c.toml", "[crawl]\nparallel = 7\n"))
	if got := parsed(t)["crawl-parallel"]; got != "7" {
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
	want.AllowNet = config.Networks("10.0.0.0/8")
	want.NATS, want.Servers.Peers, want.FullText, want.ProxyNet, want.CORS, want.TrustedProxy = []config.Address{}, []string{}, []string{}, []netip.Prefix{}, []string{}, []netip.Prefix{} // the file contains empty lists
	want.KeepTag = []config.TagKeep{}
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

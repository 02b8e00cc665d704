package main

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"feedmesh/tools/bench/report"
	"github.com/google/pprof/profile"
)

// addShares adds two tables of a profile's CPU time: by role, and by the package whose code ran or waited for
// calls; each divided by n, in milliseconds.
func addShares(r *report.Report, of string, p *profile.Profile, n float64, unit string) {
	for _, by := range []struct {
		name  string
		whose func(*profile.Sample) string
	}{{"role", roleOf}, {"package", packageOf}} {
		spent, all := map[string]time.Duration{}, time.Duration(0)
		for _, s := range p.Sample {
			spent[by.whose(s)] += time.Duration(s.Value[1])
			all += time.Duration(s.Value[1])
		}
		rest := time.Duration(0)
		for name, t := range spent {
			if t < all/200 {
				rest += t
				delete(spent, name)
			}
		}
		add := func(what string, t time.Duration) {
			r.Row(report.Row{Table: "CPU by " + by.name + ": " + of, What: what, Value: t.Seconds() * 1e3 / n, Unit: unit})
		}
		for _, name := range slices.SortedFunc(maps.Keys(spent), func(a, b string) int { return cmp.Compare(spent[b], spent[a]) }) {
			add(name, spent[name])
		}
		add("others", rest)
		add("all", all)
	}
}

// background classifies work without a role's label by a part of a function name. The first match in a sample
// decides.
var background = []struct{ function, name string }{
	{"nats-server", "NATS server"},
	{"scorch", "index: merging and writing"},
	{"bleve", "index: analysis"},
	{"agent/role.(*scheduler)", "role schedule"},
	{"agent/role/schedule/", "role schedule"},
	{"agent/service", "API"},
	{"nats-io/nats.go", "NATS client"},
	{"nats-io/nats%2ego", "NATS client"},
	{"gcBgMarkWorker", "garbage collection"},
	{"net/http", "HTTP"},
	{"sqlite", "store"},
}

// roleOf returns the role of a sample by its label, or else its kind of background work.
func roleOf(s *profile.Sample) string {
	if role := s.Label["role"]; len(role) > 0 {
		return "role " + role[0]
	}
	for _, b := range background {
		for name := range functions(s) {
			if strings.Contains(name, b.function) {
				return b.name
			}
		}
	}
	return "Go scheduler and the rest"
}

// packageOf returns the package outside the standard library that a sample was in or called from: each
// package of this project, others by module.
func packageOf(s *profile.Sample) string {
	for name := range functions(s) {
		name, _, _ = strings.Cut(name, "[") // without type arguments
		path := name[strings.LastIndexByte(name, '/')+1:]
		path = name[:len(name)-len(path)] + path[:max(0, strings.IndexByte(path, '.'))]
		path = strings.ReplaceAll(path, "%2e", ".") // escape of the last part of a path
		first, _, _ := strings.Cut(path, "/")
		switch {
		case first == "feedmesh":
			return path
		case strings.Contains(first, "."):
			return strings.Join(strings.SplitN(path+"//", "/", 4)[:3], "/")
		case strings.Contains(name, "gcBgMarkWorker"):
			return "garbage collection"
		}
	}
	return "Go itself"
}

// functions yields the names of a sample's functions, innermost first.
func functions(s *profile.Sample) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, l := range s.Location {
			for _, line := range l.Line {
				if !yield(line.Function.Name) {
					return
				}
			}
		}
	}
}

// storeProfile stores a profile in a folder, if that is not empty.
func storeProfile(dir, name string, write func(io.Writer) error) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
